#include "operators/program/kernels/lane_row_loops.hpp"

#include <algorithm>
#include <utility>

#include "codegen/text.hpp"
#include "operators/program/kernels/kernel_scope.hpp"
#include "operators/program/kernels/row_coordinates.hpp"
#include "operators/program/kernels/stage_kernel.hpp"

namespace kw {
namespace {

bool reduces(const RowStage& row) {
  return row.stage.kind == StageKind::reduce;
}

/// The variable of the row that is so many ahead.
std::string row_name(int ahead) {
  static constexpr const char* k_names[] = {"row", "next", "later"};
  return k_names[ahead];
}

}  // namespace

const std::string& LaneRowLoops::result_of(const RowStage& row, int ahead) {
  auto& names = results_[row.stage.buffer];
  for (auto i = static_cast<int>(names.size()); i <= row.ahead; ++i) {
    const auto& buffer = context_.program.buffers[row.stage.buffer].name;
    names.push_back(scope_.new_name(kernel_name(fmt::format("{}_of_{}row", buffer, k_row_prefixes[i]))));
  }
  return names[static_cast<std::size_t>(ahead)];
}

void LaneRowLoops::hold_results(int ahead) {
  for (const auto& row : plan_.stages) {
    if (reduces(row) && row.ahead >= ahead) scope_.hold(row.stage.buffer, result_of(row, ahead));
  }
}

LaneLoops::Work LaneRowLoops::work_of(const RowStage& row) {
  auto work = reduces(row) ? loops_.reduction_work(row, result_of(row, row.ahead), k_row_prefixes[row.ahead])
                           : loops_.map_work(row.stage);
  const auto of_its_row = [this, ahead = row.ahead](auto& act) {
    act = [this, ahead, written = act](auto&&... arguments) {
      hold_results(ahead);
      written(arguments...);
    };
  };
  of_its_row(work.in_lanes);
  of_its_row(work.one);
  of_its_row(work.end);
  return work;
}

void LaneRowLoops::write_loop(const std::vector<const RowStage*>& rows) {
  const RowStage& last = *rows.back();
  const bool declares = reduces(last) && last.ahead == 0;
  if (declares) body().line(fmt::format("{} {} = 0;", kernel_type(result_type_of(last.stage)), result_of(last, 0)));
  body().open("");
  std::vector<LaneLoops::Work> works;
  works.reserve(rows.size());
  for (const auto* row : rows) works.push_back(work_of(*row));
  loops_.over_columns(last.stage, works);
  body().close();
  const bool is_local = std::find(local_.begin(), local_.end(), last.stage.buffer) != local_.end();
  if (declares && !is_local) loops_.store_result(last.stage, result_of(last, 0));
}

LaneLoops::Work LaneRowLoops::work_in_part(const RowStage& row, const std::string& result) {
  auto work = reduces(row) ? loops_.reduction_work(row, result, k_row_prefixes[row.ahead]) : loops_.map_work(row.stage);
  const auto of_part = [this](auto& act) {
    act = [this, written = act](auto&&... arguments) {
      scope_.hold(plan_.stages[0].stage.buffer, part_maximum_);
      scope_.hold(plan_.stages[1].stage.buffer, joining());
      written(arguments...);
    };
  };
  of_part(work.in_lanes);
  of_part(work.one);
  of_part(work.end);
  return work;
}

void LaneRowLoops::write_parts(int least_ahead) {
  const RowStage &largest = plan_.stages[0], &sum = plan_.stages[1], &map = plan_.stages[2];
  // Made before the maximum's: the sum computes longest, so lines are asked for in its loop.
  std::vector<LaneLoops::Work> works = {work_in_part(sum, part_sum_)};
  if (least_ahead == 0) works.push_back(work_in_part(map, ""));
  const auto columns = scope_.extent(map.stage.axes.back().extent);
  body().line(fmt::format("const int parts = ({} + PART_COLUMNS - 1) / PART_COLUMNS;", columns));
  body().open("for (int part = 0; part < parts; ++part)");
  body().line("const int start = part * PART_COLUMNS;");
  body().line(fmt::format("const int behind = min(start + PART_COLUMNS, {});", columns));
  if (works.size() > 1) body().line(fmt::format("const float {0} = {0}s[part];", joining()));
  body().line(fmt::format("float {} = 0, {} = 0;", part_maximum_, part_sum_));
  for (const auto& [row, together] :
       {std::pair{&largest, std::vector{work_in_part(largest, part_maximum_)}}, {&sum, works}}) {
    body().open("");
    loops_.over_columns(row->stage, together, "start", "behind");
    body().close();
  }
  body().line(fmt::format("part_maxima[part] = {};", part_maximum_));
  body().line(fmt::format("part_sums[part] = {};", part_sum_));
  body().close();
  scope_.need_own("row_of_parts");
  scope_.need_own(joining() + "s");
  body().line(fmt::format("set_{0}s(part_maxima, part_sums, {0}s, parts);", joining()));
}

void LaneRowLoops::write_loops(int least_ahead) {
  if (plan_.in_parts) {
    write_parts(least_ahead);
    return;
  }
  for (const auto& loop : plan_.loops) {
    std::vector<const RowStage*> rows;
    for (const auto index : loop) {
      if (plan_.stages[index].ahead >= least_ahead) rows.push_back(&plan_.stages[index]);
    }
    if (!rows.empty()) write_loop(rows);
  }
  hold_results(0);
}

void LaneRowLoops::write_head(int least_ahead) {
  for (int ahead = least_ahead; ahead <= plan_.ahead(); ++ahead) {
    const auto index = static_cast<std::size_t>(ahead);
    const int further = ahead - least_ahead;
    const auto* const from = least_ahead == 0 ? "row" : "first";
    const auto row = further == 0 ? std::string(from) : fmt::format("min({} + {}, last - 1)", from, further);
    if (ahead > 0) body().line(fmt::format("const long {} = {};", row_name(ahead), row));
    body().lines(row_coordinates(plan_.rows[index], scope_, row_name(ahead)));
  }
  if (plan_.in_parts) return;
  for (const auto& row : plan_.stages) {
    for (int ahead = least_ahead; ahead < row.ahead; ++ahead) {
      const auto type = ahead == 0 ? fmt::format("const {} ", kernel_type(result_type_of(row.stage))) : std::string();
      body().line(fmt::format("{}{} = {};", type, result_of(row, ahead), result_of(row, ahead + 1)));
    }
  }
}

void LaneRowLoops::write_before() {
  if (plan_.keeps()) {
    body().line(fmt::format("float kept_row[{}] __attribute__((aligned(64)));  // read again instead of computed again",
                            k_near_columns));
  }
  if (plan_.in_parts) {
    for (const auto& array : {std::string("part_maxima"), std::string("part_sums"), joining() + "s"})
      body().line(fmt::format("float {}[{} / PART_COLUMNS];", array, k_near_columns));
  } else {
    for (const auto& row : plan_.stages) {
      for (int ahead = 1; ahead <= row.ahead; ++ahead)
        body().line(fmt::format("{} {} = 0;", kernel_type(result_type_of(row.stage)), result_of(row, ahead)));
    }
  }
  for (int least = plan_.ahead(); least > 0; --least) {
    body().open("");
    const auto before = std::exchange(body(), body().nested(0));
    write_loops(least);
    const auto loops = std::exchange(body(), before).text();
    write_head(least);
    body().raw(loops);
    body().close();
  }
}

}  // namespace kw

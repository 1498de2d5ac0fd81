#include "operators/program/kernels/lane_loops.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "codegen/text.hpp"
#include "operators/program/kernels/lane_reduction.hpp"
#include "operators/program/kernels/lane_streams.hpp"
#include "program/stages/access.hpp"

namespace kw {
namespace {

/// Elements of a row, or rows of elements, that are summed one after the other.
constexpr int k_part = 512;
/// Shorter rows lie in one page or two, which the processor reads ahead in any case.
constexpr std::int64_t k_columns_in_turns = 2048;

/// Where a loop over the axis has to end for the guard to hold in all of it: of "rest + axis < end" it is end - rest.
/// Nothing for other guards.
StageExpr bound_of(const StageExpr& guard, const std::string& axis) {
  if (guard->op != StageOp::less || depends_on(guard->operands[1], axis)) return {};
  const auto is_axis = [&](const StageExpr& node) { return node->op == StageOp::axis && node->axis == axis; };
  const StageExpr &index = guard->operands[0], &end = guard->operands[1];
  if (is_axis(index)) return end;
  if (index->op != StageOp::add) return {};
  for (std::size_t i = 0; i < 2; ++i) {
    const auto& rest = index->operands[1 - i];
    if (is_axis(index->operands[i]) && !depends_on(rest, axis)) return end - rest;
  }
  return {};
}

/// Maps and sums alone were no faster so; what does more than it reads and writes is.
bool are_in_turns(const std::vector<LaneLoops::Work>& works, const StageAxis& axis) {
  return works.size() > 1 && axis.extent.value() >= k_columns_in_turns &&
         std::any_of(works.begin(), works.end(), [](const auto& work) { return work.reads_memory; });
}

/// Null where the stage has no lanes.
const LaneReduction* gathering_of(const RowStage& row) {
  return row.of_part && row.stage.op == ReduceOp::maximum ? &lane_maximum_of_numbers() : lane_reduction(row.stage);
}

const StageExpr& kept_part(const RowStage& row) {
  return row.keeps_argument ? row.stage.body->operands[0] : row.stage.body;
}

bool in_parts(const std::vector<LaneLoops::Work>& works) {
  return std::any_of(works.begin(), works.end(), [](const auto& work) { return work.after_part != nullptr; });
}

}  // namespace

StageNode place_of(const Stage& stage) {
  if (stage.place) return *stage.place;
  StageNode place;
  place.op = StageOp::load;
  place.tensor.buffer = stage.buffer;
  for (const auto& axis : stage.axes) {
    place.tensor.type.shape.push_back(axis.extent);
    place.operands.push_back(axis_index(axis.name));
  }
  return place;
}

StageAxes columns_of(const Stage& stage, std::size_t row_count) {
  if (stage.kind == StageKind::reduce) return stage.inner;
  return {stage.axes.begin() + static_cast<std::ptrdiff_t>(row_count), stage.axes.end()};
}

bool columns_have_lanes(const Stage& stage, std::size_t row_count) {
  const auto columns = columns_of(stage, row_count);
  if (columns.empty() || columns.back().extent.value() < k_lane_count) return false;
  const auto& axis = columns.back().name;
  const auto same_in_lanes = [&](const StageExpr& guard) { return !depends_on(guard, axis) || bound_of(guard, axis); };
  if (!std::all_of(stage.guards.begin(), stage.guards.end(), same_in_lanes) || !has_lanes(stage.body, axis))
    return false;
  if (stage.kind == StageKind::map) return is_contiguous(place_of(stage), axis);
  return lane_reduction(stage) != nullptr;
}

void LaneLoops::write_guards(const Stage& stage) {
  StageExpr guard;
  for (const auto& one : stage.guards) {
    if (bounded_.empty() || !bound_of(one, bounded_)) guard = both(guard, one);
  }
  if (guard) body_.line(fmt::format("if (!({})) continue;", scope_.text(guard)));
}

void LaneLoops::scalar_map(const Stage& stage) {
  body_.lines(scope_.shared_values({stage.body}, true));
  body_.line(scalar_store(stage, without_parentheses(scope_.text(stage.body))));
  scope_.forget_values();
}

std::string LaneLoops::scalar_store(const Stage& stage, const std::string& value) {
  const auto place = place_of(stage);
  const auto& buffer = context_.buffers[stage.buffer];
  written_.insert(stage.buffer);
  std::vector<std::string> indices;
  for (const auto& index : place.operands) indices.push_back(scope_.text(index, Binding::sum));
  return store_text(buffer.dtype, buffer.name, scope_.offset(indices, place.tensor.type.shape), value,
                    scope_.dialect());
}

void LaneLoops::lane_map(const Stage& stage, LaneScope& lanes) {
  body_.lines(lanes.shared_values({stage.body}));
  store_lanes(stage, lanes, lanes.text(stage.body, true));
}

void LaneLoops::store_lanes(const Stage& stage, LaneScope& lanes, const std::string& value) {
  auto at_a_line = streams_if(context_, stage, scope_);
  streams_ = streams_ || at_a_line.has_value();
  if (at_a_line && at_a_line_) at_a_line = *at_a_line_ ? std::optional<std::string>("1") : std::nullopt;
  body_.line(at_a_line ? lanes.stream(place_of(stage), value, *at_a_line) : lanes.store(place_of(stage), value));
  written_.insert(stage.buffer);
}

void LaneLoops::scalar_step(const RowStage& row, const Accumulator& accumulator) {
  const auto& stage = row.stage;
  write_guards(stage);
  body_.lines(scope_.shared_values({stage.body, stage.position}, true));
  const auto position = stage.position ? without_parentheses(scope_.text(stage.position)) : "";
  if (row.kept) {
    const auto& kept = kept_part(row);
    const auto name = scope_.new_name("kept_value");
    body_.line(fmt::format("const float {} = {};", name, without_parentheses(scope_.text(kept))));
    scope_.call_value(kept.get(), name);
    Stage keeping = stage;
    keeping.buffer = row.kept->tensor.buffer;
    keeping.place = StageExpr(*row.kept);
    kept_.push_back(scalar_store(keeping, name));
  }
  const auto element = without_parentheses(scope_.text(stage.body));
  body_.lines(accumulator.step(element, position));
  scope_.forget_values();
}

void LaneLoops::lane_step(const RowStage& row, LaneScope& lanes, const std::string& variable, const std::string& part) {
  const auto& stage = row.stage;
  const auto& reduction = *gathering_of(row);
  write_guards(stage);
  body_.lines(lanes.shared_values({stage.body}));
  lanes.bound_exponents(row.of_part);
  if (row.kept) {
    const auto& kept = kept_part(row);
    const auto name = scope_.new_name("kept_value");
    body_.line(fmt::format("const float16 {} = {};", name, lanes.text(kept, true)));
    lanes.call_value(kept, name);
    kept_.push_back(lanes.store(*row.kept, name));
    written_.insert(row.kept->tensor.buffer);
  }
  const auto element = lanes.text(stage.body, true);
  lanes.bound_exponents(false);
  body_.line(fmt::format(fmt::runtime(reduction.step), gathers_parts(stage) ? part : variable, element));
  if (reduction.helper != nullptr) scope_.need_own(reduction.helper);
}

void LaneLoops::flush(const std::string& sum, const std::string& part) {
  body_.line(fmt::format("{} += {};", sum, part));
  body_.line(part + " = 0.0f;");
}

bool LaneLoops::gathers_parts(const Stage& stage) {
  return stage.in_parts && stage.op == ReduceOp::sum && stage.body->type == StageType::real;
}

std::string LaneLoops::end_of_columns(const Stage& stage) {
  const StageAxis last = columns_of(stage, row_count_).back();
  StageExpr end;
  for (const auto& guard : stage.guards) {
    const auto bound = bound_of(guard, last.name);
    if (bound) end = end ? minimum(end, bound) : bound;
  }
  if (!end) return scope_.extent(last.extent);
  auto name = scope_.new_name("end");
  body_.line(
      fmt::format("const int {} = {};", name, without_parentheses(scope_.text(minimum(StageExpr(last.extent), end)))));
  return name;
}

std::size_t LaneLoops::open_outer(const StageAxes& columns) {
  for (std::size_t i = 0; i + 1 < columns.size(); ++i) open_loop(columns[i]);
  return columns.empty() ? 0 : columns.size() - 1;
}

void LaneLoops::open_loop(const StageAxis& axis) {
  body_.open(fmt::format("for (int {0} = 0; {0} < {1}; ++{0})", scope_.axis(axis.name), scope_.extent(axis.extent)));
}

void LaneLoops::open_parts(const std::string& index, const std::string& end, int step) {
  body_.open(fmt::format("while ({} + {} <= {})", index, step, end));
  if (part_end_.empty()) part_end_ = scope_.new_name("part_end");
  const auto behind = step == 1 ? std::string() : fmt::format(" - {}", step - 1);
  body_.line(fmt::format("const int {} = min({} + {}, {}){};", part_end_, index, k_part, end, behind));
  scope_.need_own("unrolled_parts");
  body_.line("#pragma unroll 4");
  body_.open(fmt::format("for (; {0} < {1}; {0} += {2})", index, part_end_, step));
}

void LaneLoops::close(std::size_t loops) {
  for (std::size_t i = 0; i < loops; ++i) body_.close();
}

void LaneLoops::lanes_of(const std::string& axis, const std::vector<Work>& works) {
  LaneScope lanes(scope_, axis);
  for (const auto& work : works) work.in_lanes(lanes);
  write_kept();
}

void LaneLoops::write_kept() {
  body_.lines(std::exchange(kept_, {}));
}

void LaneLoops::after_part(const std::vector<Work>& works) {
  for (const auto& work : works) {
    if (work.after_part) work.after_part();
  }
}

void LaneLoops::for_lines(const std::vector<Work>& works, const std::function<void()>& write) {
  const auto asks = std::find_if(works.begin(), works.end(), [](const auto& work) { return !work.streams_if.empty(); });
  if (asks == works.end()) return write();
  for (const bool at_a_line : {true, false}) {
    body_.open(at_a_line ? fmt::format("if (STREAM_STORES && {})", asks->streams_if) : "else");
    at_a_line_ = at_a_line;
    write();
    at_a_line_.reset();
    body_.close();
  }
}

std::string LaneLoops::lanes_over_columns(const StageAxis& axis, const std::string& first, const std::string& end,
                                          const std::vector<Work>& works) {
  const bool whole_row = first == "0";
  if (whole_row && are_in_turns(works, axis)) return lanes_in_turns(axis.name, end, works);
  const auto name = scope_.axis(axis.name);
  body_.line(fmt::format("int {} = {};", name, first));
  const bool parts = in_parts(works);
  for_lines(works, [&] {
    if (parts)
      open_parts(name, end, k_lane_count);
    else
      body_.open(fmt::format("for (; {0} + {1} <= {2}; {0} += {1})", name, k_lane_count, end));
    lanes_of(axis.name, works);
    body_.close();
    if (parts) {
      after_part(works);
      body_.close();
    }
  });
  return fmt::format("for (; {0} < {1}; ++{0})", name, end);
}

std::string LaneLoops::lanes_in_turns(const std::string& axis, const std::string& end, const std::vector<Work>& works) {
  const auto name = scope_.axis(axis);
  scope_.need_own("column_of_turn");
  scope_.need_own("unrolled_parts");
  in_turns_ = true;
  body_.line(fmt::format("const int turns = {} / {};", end, k_lane_count));
  const bool parts = in_parts(works);
  for_lines(works, [&] {
    if (parts) {
      body_.open(fmt::format("for (int begin = 0; begin < turns; begin += {})", k_part / k_lane_count));
      body_.line(fmt::format("const int part_end = min(begin + {}, turns);", k_part / k_lane_count));
    }
    body_.line("#pragma unroll 4");
    body_.open(
        fmt::format("for (int turn = {0}; turn < {1}; ++turn)", parts ? "begin" : "0", parts ? "part_end" : "turns"));
    body_.line(fmt::format("const int {} = column_of_turn(turn, turns);", name));
    lanes_of(axis, works);
    body_.close();
    if (parts) {
      after_part(works);
      body_.close();
    }
  });
  return fmt::format("for (int {0} = {1} * turns; {0} < {2}; ++{0})", name, k_lane_count, end);
}

void LaneLoops::over_columns(const Stage& stage, const std::vector<Work>& works, const std::string& first,
                             const std::string& last) {
  for (const auto& work : works) work.begin();
  const auto columns = columns_of(stage, row_count_);
  const auto outer = open_outer(columns);
  const auto one = [&] {
    for (const auto& work : works) work.one();
    write_kept();
  };
  if (columns.empty()) {
    one();
  } else {
    const auto name = scope_.axis(columns.back().name);
    const auto end = last.empty() ? end_of_columns(stage) : last;
    bounded_ = last.empty() ? columns.back().name : "";
    body_.open(columns_have_lanes(stage, row_count_)
                   ? lanes_over_columns(columns.back(), first, end, works)
                   : fmt::format("for (int {0} = {1}; {0} < {2}; ++{0})", name, first, end));
    one();
    body_.close();
    bounded_.clear();
    for (const auto& work : works) work.after_line();
    close(outer);
  }
  for (const auto& work : works) work.end();
}

std::vector<Tunable> LaneLoops::stream_tunables() const {
  std::vector<Tunable> tunables;
  if (streams_) tunables.push_back(stream_tunable());
  if (fetches_) tunables.push_back(prefetch_tunable(in_turns_ ? k_bytes_ahead_in_turns : k_bytes_ahead));
  if (in_turns_) tunables.push_back(turns_tunable(context_.device));
  return tunables;
}

std::vector<StageNode> LaneLoops::first_loads(const Stage& stage) {
  auto loads = loads_in_order(context_, stage, row_count_);
  std::erase_if(loads, [&](const StageNode& load) { return !fetched_.insert(load.tensor.buffer).second; });
  return loads;
}

void LaneLoops::fetch(const std::vector<StageNode>& loads, LaneScope& lanes) {
  for (const auto& load : loads) body_.line(lanes.fetch(load));
  fetches_ = fetches_ || !loads.empty();
}

LaneLoops::Work LaneLoops::map_work(const Stage& stage) {
  const auto loads = first_loads(stage);
  const auto in_lanes = [this, &stage, loads](LaneScope& lanes) {
    fetch(loads, lanes);
    lane_map(stage, lanes);
  };
  const auto at_a_line = streams_if(context_, stage, scope_).value_or("1");
  return {[] {}, in_lanes, nullptr,        [&] { scalar_map(stage); },
          [] {}, [] {},    !loads.empty(), at_a_line == "1" ? "" : at_a_line};
}

LaneLoops::Work LaneLoops::reduction_work(const RowStage& row, const std::string& result, const std::string& prefix) {
  const Stage& stage = row.stage;
  const bool in_lanes = columns_have_lanes(stage, row_count_);
  const auto accumulator = accumulator_of(stage, scope_.axis(stage.inner.back().name), prefix);
  const std::string lanes = prefix + "lanes", part = prefix + "lane_part";
  const auto* const reduction = gathering_of(row);
  const auto begin = [=, this, &stage] {
    for (const auto& helper : accumulator.own_helpers) scope_.need_own(helper);
    body_.lines(accumulator.declarations);
    if (!in_lanes) return;
    body_.line(fmt::format("float16 {} = {};", lanes, reduction->start));
    if (gathers_parts(stage)) body_.line(fmt::format("float16 {} = 0.0f;", part));
  };
  // Parts do not go on in the next line of columns, which may be too short to fill one.
  const auto after_line = [=, this, &stage] {
    if (gathers_parts(stage)) flush(prefix + "sum", prefix + "part");
  };
  const auto end = [=, this, &stage, &result] {
    if (in_lanes) {
      scope_.need_own(reduction->gather);
      body_.line(fmt::format(fmt::runtime(reduction->merge), fmt::format("{}({})", reduction->gather, lanes), prefix));
    }
    finish_reduction(stage, accumulator, result);
  };
  std::function<void()> after_part;
  if (gathers_parts(stage)) after_part = [=, this] { flush(lanes, part); };
  const auto loads = first_loads(stage);
  const auto step = [=, this, &row](LaneScope& scope) {
    fetch(loads, scope);
    lane_step(row, scope, lanes, part);
  };
  const auto one = [=, this, &row] { scalar_step(row, accumulator); };
  return {begin, step, after_part, one, after_line, end, !loads.empty(), ""};
}

void LaneLoops::finish_reduction(const Stage& stage, const Accumulator& accumulator, const std::string& result) {
  scope_.call_result(accumulator.result);
  const auto value = stage.epilogue ? stage.epilogue : reduction_result(stage.body->type);
  body_.lines(scope_.shared_values({stage.epilogue}, true));
  body_.line(fmt::format("{} = {};", result, without_parentheses(scope_.text(value))));
  scope_.forget_values();
}

}  // namespace kw

#include "operators/program/kernels/contract_vector_stores.hpp"

#include <algorithm>

#include "codegen/text.hpp"
#include "language/kernel_texts.hpp"
#include "operators/program/kernels/contract_text.hpp"
#include "operators/program/kernels/lane_scope.hpp"
#include "program/stages/access.hpp"

namespace kw {
namespace {

constexpr const char* k_sum = "sums[r * COLUMNS + l]";
constexpr const char* k_sixteen_sums = "total[(r * COLUMNS + l) / 16]";

std::string_view contract_section(const char* name) {
  return kernel_text("program/contract.cl", name);
}

class Writer {
 public:
  Writer(KernelScope& scope, const Contraction& contraction, const KernelBuffer& out)
      : scope_(scope), contraction_(contraction), out_(out), address_(stored_address(contraction)) {}

  VectorStores write() {
    const bool by_row = address_ && is_one_run(*address_, contraction_.columns);
    VectorStores stores;
    if (!address_ || (by_row && !finishes_in_lanes())) {
      stores.text = one_by_one();
    } else if (by_row) {
      stores.text = by_rows();
    } else {
      stores.text = by_columns();
      stores.axes = axes_in(*address_);
    }
    stores.axes.insert(scope_.used_axes().begin(), scope_.used_axes().end());
    return stores;
  }

 private:
  [[nodiscard]] const StageExpr& epilogue() const { return contraction_.split.stage.epilogue; }
  [[nodiscard]] const StageExpr& stored() const { return contraction_.split.stored; }
  [[nodiscard]] std::string column_axis() const { return contraction_.columns[0].name; }

  /// Whether a row has all of its columns or none.
  [[nodiscard]] bool has_whole_rows() const {
    return !stored() || std::ranges::none_of(contraction_.columns,
                                             [&](const StageAxis& axis) { return depends_on(stored(), axis.name); });
  }

  /// Whether what becomes of sixteen neighbouring columns' sums can be computed at once.
  [[nodiscard]] bool finishes_in_lanes() const {
    if (contraction_.columns.size() != 1 || !has_whole_rows()) return false;
    return !epilogue() || (epilogue()->type == StageType::real && has_lanes(epilogue(), column_axis()));
  }

  [[nodiscard]] std::string axes_text(const StageAxes& axes, const char* flat, const std::set<std::string>& used) {
    return join_lines(index_statements(scope_, axes, flat, used));
  }
  /// Passes by what the output does not have.
  [[nodiscard]] std::string guard_text() {
    return stored() ? fmt::format("if (!({})) continue;", scope_.text(stored())) : "";
  }

  std::string one_by_one() {
    const auto sum = stored_sum(scope_, contraction_, out_, k_sum);
    const auto guard = guard_text();
    const auto& used = scope_.used_axes();
    return fill_lines(contract_section("stores_one_by_one"),
                      {{"stored_guard", guard},
                       {"values", sum.values},
                       {"store", sum.store},
                       {"stored_row_axes", axes_text(contraction_.rows, "m", used)},
                       {"stored_column_axes", axes_text(contraction_.columns, "n", used)}});
  }

  /// The element of the output that the axes of the contraction name, as a load.
  [[nodiscard]] StageNode place() const {
    StageNode place;
    place.op = StageOp::load;
    place.tensor.buffer = contraction_.split.stage.buffer;
    for (const auto& axis : contraction_.split.output) place.tensor.type.shape.push_back(axis.extent);
    place.operands = contraction_.split.place;
    return place;
  }

  /// The loops over the columns of a row. `stores`: in the output; else finished sums stay where they were.
  std::string finished_lanes(bool stores) {
    LaneScope lanes(scope_, column_axis());
    lanes.call_result(k_sixteen_sums);
    const auto lane_values = epilogue() ? lanes.shared_values({epilogue()}) : std::vector<std::string>();
    const auto lane_value = epilogue() ? lanes.text(epilogue(), true) : std::string(k_sixteen_sums);
    const auto lane_end =
        stores ? lanes.store(place(), lane_value) : fmt::format("{} = {};", k_sixteen_sums, lane_value);
    const auto lane_axes = axes_text(contraction_.columns, "n", scope_.used_axes());
    scope_.forget_values();
    const auto sum = stored_sum(scope_, contraction_, out_, k_sum);
    const auto column_axes = axes_text(contraction_.columns, "n", scope_.used_axes());
    scope_.forget_values();
    return fill_lines(contract_section("finished_lanes"),
                      {{"lane_axes", lane_axes},
                       {"lane_values", join_lines(lane_values)},
                       {"lane_end", lane_end},
                       {"column_axes", column_axes},
                       {"values", sum.values},
                       {"end", stores ? sum.store : fmt::format("{} = {};", k_sum, sum.value)}});
  }

  std::string by_rows() {
    const auto lanes = finished_lanes(true);
    const auto guard = guard_text();
    return fill_lines(contract_section("stores_of_rows"),
                      {{"stored_row_axes", axes_text(contraction_.rows, "m", scope_.used_axes())},
                       {"stored_guard", guard},
                       {"lanes", lanes}});
  }

  /// Other tensors of the output's shape have its elements at the same places.
  void name_places() {
    StageAxes axes;
    for (std::size_t i = 0; i < contraction_.split.place.size(); ++i) {
      const auto& index = contraction_.split.place[i];
      if (index->op != StageOp::axis) return;
      axes.push_back({index->axis, contraction_.split.output[i].extent});
    }
    scope_.name_place(axes, "place");
  }

  std::string row_place() {
    auto place = address_text(scope_, *address_, joined_axes(contraction_.batch, contraction_.rows), true);
    if (!stored() || !has_whole_rows()) return place;
    return fmt::format("{} ? {} : -1", scope_.text(stored(), Binding::either), place);
  }

  /// Whether neighbouring rows may be neighbours in the output, and sixteen of them be stored at once.
  [[nodiscard]] bool has_runs() const {
    const auto last = contraction_.rows.empty() ? address_->coefficients.end()
                                                : address_->coefficients.find(contraction_.rows.back().name);
    return out_.dtype == DType::f32 && !stored() && last != address_->coefficients.end() &&
           last->second.is_constant() && last->second.value() == 1;
  }

  /// Finished sums are stored, or sums are finished one by one, column by column.
  std::string by_columns() {
    const bool in_lanes = finishes_in_lanes();
    const auto lanes = in_lanes && epilogue() ? finished_lanes(false) : "";
    const std::string rows_without = stored() && has_whole_rows() ? "if (places[r] < 0) continue;" : "";
    const auto place = row_place();
    const auto place_axes = axes_in(*address_);
    auto row_axes = scope_.used_axes(), column_axes = place_axes;
    row_axes.insert(place_axes.begin(), place_axes.end());
    StoredSum sum;
    std::string guard, element_axes, runs, run;
    if (in_lanes && has_runs()) {
      scope_.need_own("contract.cl/sixteen_rows");
      scope_.need_own("float16_anywhere");
      scope_.need_own("store16");
      runs = fill_lines(contract_section("runs"));
      run = fill_lines(contract_section("run"), {{"out", out_.name}});
    }
    if (in_lanes) {
      sum.store = store_text(out_.dtype, out_.name, "place", k_sum, scope_.dialect());
    } else {
      name_places();
      sum = stored_sum(scope_, contraction_, out_, k_sum, "place");
      guard = has_whole_rows() ? "" : guard_text();
      element_axes = axes_text(contraction_.rows, "(first_row + r)", scope_.used_axes());
      column_axes.insert(scope_.used_axes().begin(), scope_.used_axes().end());
    }
    return fill_lines(contract_section("stores_of_columns"),
                      {{"stored_row_axes", axes_text(contraction_.rows, "m", row_axes)},
                       {"row_place", place},
                       {"rows_without", rows_without},
                       {"lanes", lanes},
                       {"column_axes", axes_text(contraction_.columns, "n", column_axes)},
                       {"column_place", address_text(scope_, *address_, contraction_.columns, false)},
                       {"runs", runs},
                       {"run", run},
                       {"row_axes", element_axes},
                       {"stored_guard", guard},
                       {"values", sum.values},
                       {"store", sum.store}});
  }

  KernelScope& scope_;
  const Contraction& contraction_;
  const KernelBuffer& out_;
  std::optional<AffineIndex> address_;
};

}  // namespace

VectorStores contract_vector_stores(KernelScope& scope, const Contraction& contraction, const KernelBuffer& out) {
  return Writer(scope, contraction, out).write();
}

}  // namespace kw

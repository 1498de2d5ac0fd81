#include "operators/program/kernels/scans.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "codegen/text.hpp"
#include "language/kernel_texts.hpp"
#include "operators/program/kernels/affine_index.hpp"
#include "operators/program/kernels/kernel_signature.hpp"
#include "operators/program/kernels/row_coordinates.hpp"
#include "operators/program/kernels/stage_kernel.hpp"
#include "operators/program/kernels/sum_algebra.hpp"

namespace kw {
namespace {

constexpr std::int64_t k_shortest_scan = 64;

/// How two parts of a row follow from one another.
struct ScanRule {
  ReduceOp op;
  const char* neutral;
  const char* together;  ///< of {0} and {1} behind it
  const char* helper;    ///< null where the text calls none
};

constexpr std::array k_scan_rules = {
    ScanRule{ReduceOp::sum, "0.0f", "{} + {}", nullptr},
    ScanRule{ReduceOp::product, "1.0f", "{} * {}", nullptr},
    ScanRule{ReduceOp::maximum, "-INFINITY", "larger({}, {})", "larger"},
    ScanRule{ReduceOp::minimum, "INFINITY", "smaller({}, {})", "smaller"},
};

const ScanRule* scan_rule(const Stage& stage) {
  const auto found =
      std::find_if(k_scan_rules.begin(), k_scan_rules.end(), [&](const ScanRule& rule) { return rule.op == stage.op; });
  const bool real = stage.kind == StageKind::scan && stage.body->type == StageType::real;
  return real && stage.guards.empty() && found != k_scan_rules.end() ? &*found : nullptr;
}

std::string stored_element(const Stage& stage, const GroupContext& context, KernelScope& scope) {
  const auto& buffer = context.buffers[stage.buffer];
  scope.call_result("elements[at]");
  const auto value = stage.epilogue ? without_parentheses(scope.text(stage.epilogue)) : "elements[at]";
  std::vector<std::string> indices;
  auto shape = extents_of(stage.axes);
  if (stage.place) {
    for (const auto& index : stage.place->operands) indices.push_back(scope.text(index, Binding::sum));
    shape = stage.place->tensor.type.shape;
  } else {
    for (const auto& axis : stage.axes) indices.push_back(scope.text(axis_index(axis.name)));
  }
  return store_text(buffer.dtype, buffer.name, scope.offset(indices, shape), value, scope.dialect());
}

std::string scan_body(const Stage& stage, const GroupContext& context, KernelScope& scope, const StageAxes& rows) {
  const auto& rule = *scan_rule(stage);
  if (rule.helper != nullptr) scope.need_own(rule.helper);
  const auto together = [&](const char* a, const char* b) { return fmt::format(fmt::runtime(rule.together), a, b); };
  const auto scanned = std::find_if(stage.axes.begin(), stage.axes.end(),
                                    [&](const StageAxis& axis) { return axis.name == stage.inner[0].name; });
  auto read = scope.shared_values({stage.body}, true);
  read.push_back(fmt::format("elements[at] = {};", without_parentheses(scope.text(stage.body))));
  scope.forget_values();
  const auto write = stored_element(stage, context, scope);
  return fill_lines(kernel_text("program/scan.cu", "body"),
                    {{"row_indices", join_lines(row_coordinates(rows, scope))},
                     {"neutral", rule.neutral},
                     {"length", scope.extent(scanned->extent)},
                     {"column", scope.axis(scanned->name)},
                     {"read", fmt::format("{}", fmt::join(read, "\n        "))},
                     {"write", write},
                     {"total_with_element", together("total", "elements[first + item]")},
                     {"earlier_with_total", together("earlier", "total")},
                     {"kept_with_before", together("kept", "before")},
                     {"running_with_element", together("running", "elements[first + item]")},
                     {"kept_with_all", together("kept", "all")}}) +
         "\n";
}

/// Where the map stores an element of the scan, in the scan's axes, if it does nothing but put each of a row at the
/// mirrored place.
std::optional<StageIndices> mirrored_place(const Stage& scan, const Stage& map) {
  if (map.kind != StageKind::map || map.place || map.body->op != StageOp::load) return std::nullopt;
  const auto places = reshaped_indices(map.body->operands, map.body->tensor.type.shape, extents_of(scan.axes));
  if (map.axes.size() != scan.axes.size()) return std::nullopt;
  StageIndices stored;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto& axis = scan.axes[i].name;
    const auto& own = map.axes[i].name;
    if (scan.axes[i].extent.text() != map.axes[i].extent.text()) return std::nullopt;
    if (axis != scan.inner[0].name) {
      if (places[i]->op != StageOp::axis || places[i]->axis != own) return std::nullopt;
      stored.push_back(axis_index(axis));
      continue;
    }
    const auto affine = affine_index(places[i], {});
    const auto* step =
        affine && affine->coefficients.size() == 1 && affine->terms.empty() ? &*affine->coefficients.begin() : nullptr;
    const bool mirrored =
        step != nullptr && step->first == own && step->second.is_constant() && step->second.value() == -1;
    if (!mirrored) return std::nullopt;
    stored.push_back(with_axes(places[i], {{own, axis_index(axis)}}));
  }
  return stored;
}

}  // namespace

bool is_row_scan(const Stage& stage, Dialect dialect) {
  return !dialect->warp.empty() && scan_rule(stage) != nullptr && stage.inner[0].extent.value() >= k_shortest_scan;
}

void reverse_scans(StageProgram& program, Dialect dialect) {
  for (auto& scan : program.stages) {
    if (!is_row_scan(scan, dialect) || scan.place || program.buffers[scan.buffer].use != BufferUse::scratch) continue;
    const auto reader = only_reader(program, scan.buffer);
    const auto stored = reader ? mirrored_place(scan, program.stages[*reader]) : std::nullopt;
    if (!stored) continue;
    const auto& map = program.stages[*reader];
    scan.place = load({map.buffer, {program.buffers[map.buffer].type.dtype, extents_of(map.axes)}}, *stored);
    scan.buffer = map.buffer;
    program.stages.erase(program.stages.begin() + static_cast<std::ptrdiff_t>(*reader));
    return reverse_scans(program, dialect);
  }
}

bool scans_take(const GroupContext& context, const StageGroup& group) {
  return group.stages.size() == 1 && is_row_scan(context.program.stages[group.stages[0]], context.dialect);
}

GroupKernels scans_kernels(const GroupContext& context, const StageGroup& group) {
  const auto& stage = context.program.stages[group.stages[0]];
  StageAxes rows;
  Shape shape;
  for (const auto& axis : stage.axes) {
    if (axis.name == stage.inner[0].name) continue;
    rows.push_back(axis);
    shape.push_back(axis.extent);
  }
  KernelScope scope(context.buffers, stage, context.dialect);
  const auto body = scan_body(stage, context, scope, rows);
  const KernelSignature signature(context, scope, {stage.buffer});
  auto kernels = signature.kernels(kernel_of_buffer(context, stage.buffer), "SCAN_THREADS", body);
  kernels.launches[0].grid = {shape.empty() ? "1" : count_expression(shape)};
  kernels.tunables = {{"SCAN_THREADS", {64, 128, 256, 512}, 256}, {"SCAN_ELEMENTS", {1, 2, 4, 8}, 4}};
  return kernels;
}

}  // namespace kw

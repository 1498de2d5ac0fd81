#include "operators/program/kernels/scans.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "base/text.hpp"
#include "codegen/text.hpp"
#include "language/kernel_texts.hpp"
#include "operators/program/kernels/affine_index.hpp"
#include "operators/program/kernels/kernel_signature.hpp"
#include "operators/program/kernels/row_coordinates.hpp"
#include "operators/program/kernels/row_fours.hpp"
#include "operators/program/kernels/row_sharing.hpp"
#include "operators/program/kernels/stage_kernel.hpp"
#include "operators/program/kernels/sum_algebra.hpp"
#include "program/stages/exact_extent.hpp"

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

/// Where an element goes, as a load of the stage's own buffer.
StageExpr stored_place(const Stage& stage) {
  if (stage.place) return stage.place;
  StageIndices indices;
  for (const auto& axis : stage.axes) indices.push_back(axis_index(axis.name));
  return load({stage.buffer, {ElementType::float32, extents_of(stage.axes)}}, indices);
}

class ScanWriter {
 public:
  ScanWriter(const GroupContext& context, const Stage& stage, KernelScope& scope, const StageAxes& rows)
      : context_(context),
        stage_(stage),
        scope_(scope),
        rows_(rows),
        rule_(*scan_rule(stage)),
        scanned_(std::find_if(stage.axes.begin(), stage.axes.end(),
                              [&](const StageAxis& axis) { return axis.name == stage.inner[0].name; })),
        place_(stored_place(stage)) {
    if (rule_.helper != nullptr) scope_.need_own(rule_.helper);
    common_ = {{"neutral", rule_.neutral},
               {"length", scope_.extent(scanned_->extent)},
               {"column", scope_.axis(scanned_->name)},
               {"first_column", scope_.new_name("first_" + scope_.axis(scanned_->name))}};
  }

  std::string body() {
    auto holes = common_;
    holes.push_back({"read_stretch", reading()});
    holes.push_back({"take_stretch", take_});
    holes.push_back({"write_stretch", writing()});
    holes.push_back({"fours", join_lines(fours_)});
    holes.push_back({"row_indices", join_lines(row_coordinates(rows_, scope_))});
    holes.push_back({"shuffle_up", warp_word(context_.dialect, "shuffle_up")});
    holes.push_back({"mask", shuffle_mask(context_.dialect)});
    holes.push_back({"value_with_next", together("values[item - 1]", "values[item]")});
    holes.push_back({"earlier_with_total", together("earlier", "total")});
    holes.push_back({"kept_with_warp", together("kept", "totals[side][warp]")});
    holes.push_back({"before_with_warp", together("before", "in_warp")});
    holes.push_back({"before_with_value", together("before", "values[item]")});
    return fill_lines(kernel_text("program/scan.cu", "body"), holes) + "\n";
  }

 private:
  [[nodiscard]] std::string together(const char* a, const char* b) const {
    return fmt::format(fmt::runtime(rule_.together), a, b);
  }

  /// The section with its holes and those that all have.
  [[nodiscard]] std::string section(const char* name, Fillings holes) const {
    holes.insert(holes.end(), common_.begin(), common_.end());
    return fill_lines(kernel_text("program/scan.cu", name), holes);
  }

  [[nodiscard]] std::string reading() {
    const auto read = element_into("following[item]");
    take_ = section("take_elements", {});
    auto text = section("read_elements", {{"read", join_lines(read)}});
    const auto fours = row_fours(stage_, scanned_->name, scanned_->extent, nullptr, scope_);
    if (!fours) return text;
    fours_.push_back(fmt::format("const bool fours_read = {};", fmt::join(fours->conditions, " && ")));
    take_ = section("take_fours", {{"one_by_one", take_}});
    const auto reads = four_reads(*fours, "item", scope_);
    auto elements = reads.elements;
    for (auto& line : element_into("following[four + item]")) elements.push_back(std::move(line));
    return section(
        "read_fours",
        {{"loads", join_lines(reads.loads)}, {"elements", join_lines(elements)}, {"one_by_one", std::move(text)}});
  }

  [[nodiscard]] std::vector<std::string> element_into(const std::string& variable) {
    auto lines = scope_.shared_values({stage_.body}, true);
    lines.push_back(fmt::format("{} = {};", variable, without_parentheses(scope_.text(stage_.body))));
    scope_.forget_values();
    return lines;
  }

  [[nodiscard]] std::string writing() {
    const auto& buffer = context_.buffers[stage_.buffer];
    const auto place = scope_.place_text(*place_);
    auto text =
        section("write_elements",
                {{"write", store_text(buffer.dtype, buffer.name, place, result("elements[at]"), scope_.dialect())}});
    const auto fours = stored_fours(*place_, scanned_->name, scanned_->extent, scope_);
    if (!fours) return text;
    fours_.push_back(fmt::format("const bool fours_written = {};", fmt::join(*fours, " && ")));
    const auto result_line = fmt::format("values[item] = {};", result("values[item]"));
    const auto results = stage_.epilogue ? section("four_results", {{"result", result_line}}) : std::string();
    return section("write_fours", {{"results", results},
                                   {"stored", fmt::format("{} + {}", buffer.name, place)},
                                   {"one_by_one", std::move(text)}});
  }

  [[nodiscard]] std::string result(const std::string& scanned) {
    scope_.call_result(scanned);
    return stage_.epilogue ? without_parentheses(scope_.text(stage_.epilogue)) : scanned;
  }

  const GroupContext& context_;
  const Stage& stage_;
  KernelScope& scope_;
  const StageAxes& rows_;
  const ScanRule& rule_;
  StageAxes::const_iterator scanned_;
  StageExpr place_;
  Fillings common_;
  std::string take_;
  std::vector<std::string> fours_;  ///< declarations of what is read and written by fours
};

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

bool is_neutral(const StageExpr& node, ReduceOp op) {
  if (node->op != StageOp::real) return false;
  constexpr double k_infinity = std::numeric_limits<double>::infinity();
  switch (op) {
    case ReduceOp::sum:
      return node->real == 0.0;
    case ReduceOp::product:
      return node->real == 1.0;
    case ReduceOp::maximum:
      return node->real == -k_infinity;
    case ReduceOp::minimum:
      return node->real == k_infinity;
    default:
      return false;
  }
}

/// By how many places the map moves the scan's elements towards the end, with neutral elements before them, if that is
/// all that it does.
std::optional<StageExpr> shift_of_reader(const Stage& scan, const Stage& map) {
  if (map.kind != StageKind::map || map.place || map.body->op != StageOp::select) return std::nullopt;
  const auto& condition = map.body->operands[0];
  const auto& moved = map.body->operands[2];
  const bool fits = condition->op == StageOp::less && condition->operands[1]->op == StageOp::integer &&
                    condition->operands[1]->integer.is_constant() && is_neutral(map.body->operands[1], scan.op) &&
                    moved->op == StageOp::load && map.axes.size() == scan.axes.size();
  if (!fits || moved->tensor.buffer != scan.buffer) return std::nullopt;
  const auto& shift = condition->operands[1]->integer;
  const auto places = reshaped_indices(moved->operands, moved->tensor.type.shape, extents_of(scan.axes));
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto& own = axis_index(map.axes[i].name);
    const bool scanned = scan.axes[i].name == scan.inner[0].name;
    const auto extent = scanned ? exact_sum(scan.axes[i].extent, shift) : scan.axes[i].extent;
    if (!extent || extent->text() != map.axes[i].extent.text()) return std::nullopt;
    if (!scanned && !same_expression(places[i], own)) return std::nullopt;
    const auto index = scanned ? affine_index(places[i], {}) : std::nullopt;
    const auto expected = scanned ? affine_index(own - StageExpr(shift), {}) : std::nullopt;
    if (scanned && (!index || !expected || !same_affine(*index, *expected))) return std::nullopt;
    if (scanned && !same_expression(condition->operands[0], own)) return std::nullopt;
  }
  return StageExpr(shift);
}

}  // namespace

bool is_row_scan(const Stage& stage, Dialect dialect) {
  return !dialect->warp.empty() && scan_rule(stage) != nullptr && stage.inner[0].extent.value() >= k_shortest_scan;
}

void shift_scans(StageProgram& program, Dialect dialect) {
  for (auto& scan : program.stages) {
    if (!is_row_scan(scan, dialect) || scan.place || scan.epilogue ||
        program.buffers[scan.buffer].use != BufferUse::scratch)
      continue;
    const auto reader = only_reader(program, scan.buffer);
    const auto shift = reader ? shift_of_reader(scan, program.stages[*reader]) : std::nullopt;
    if (!shift) continue;
    const auto& map = program.stages[*reader];
    const auto scanned = std::find_if(scan.axes.begin(), scan.axes.end(),
                                      [&](const StageAxis& axis) { return axis.name == scan.inner[0].name; });
    scanned->extent = map.axes[static_cast<std::size_t>(scanned - scan.axes.begin())].extent;
    scan.inner[0].extent = scanned->extent;
    const auto index = axis_index(scanned->name);
    scan.body = select(index < *shift, map.body->operands[1], with_axes(scan.body, {{scanned->name, index - *shift}}));
    scan.buffer = map.buffer;
    program.stages.erase(program.stages.begin() + static_cast<std::ptrdiff_t>(*reader));
    return shift_scans(program, dialect);
  }
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
  const auto body = ScanWriter(context, stage, scope, rows).body();
  const KernelSignature signature(context, scope, {stage.buffer});
  auto kernels = signature.kernels(kernel_of_buffer(context, stage.buffer), "SCAN_THREADS", body);
  kernels.launches[0].grid = {shape.empty() ? "1" : count_expression(shape)};
  kernels.tunables = {{"SCAN_THREADS", {64, 128, 256, 512}, 512}, {"SCAN_ELEMENTS", {4, 8, 16}, 4}};
  return kernels;
}

}  // namespace kw

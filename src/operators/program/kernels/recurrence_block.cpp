#include "operators/program/kernels/recurrence_block.hpp"

#include <algorithm>

#include "base/identifier.hpp"
#include "base/text.hpp"
#include "codegen/text.hpp"
#include "language/kernel_texts.hpp"
#include "operators/program/kernels/kernel_signature.hpp"
#include "operators/program/kernels/recurrence_states.hpp"
#include "operators/program/kernels/stage_kernel.hpp"
#include "program/stages/access.hpp"
#include "program/stages/rewrite.hpp"

namespace kw {
namespace {

/// What a work-item has in registers besides a row of weights, and what may be in all of a work-group's and a unit's.
constexpr std::int64_t k_other_registers = 40;
constexpr std::int64_t k_longest_row = 208;
constexpr std::int64_t k_most_registers = 65536;
constexpr std::int64_t k_most_threads = 1024;

/// The product of a step as weights times states: `weight` is the same for all sequences and steps.
struct Factors {
  StageExpr weight;
  StageExpr given;        ///< the state before the first step
  std::size_t state = 0;  ///< the buffer whose elements of the step before are the other factor
};

class FactorFinder {
 public:
  explicit FactorFinder(const StepShape& shape) : shape_(shape), axes_(shape.product().axes) {}

  [[nodiscard]] std::optional<Factors> find() const {
    const auto first = stage_at_step(shape_.product(), true), later = stage_at_step(shape_.product(), false);
    if (first.body->op != StageOp::multiply || later.body->op != StageOp::multiply) return std::nullopt;
    for (std::size_t i = 0; i < 2; ++i) {
      const auto& weight = later.body->operands[i];
      const auto& state = later.body->operands[1 - i];
      if (depends_on_step(weight) || depends_on(state, axes_[2].name) || !is_state_before(state)) continue;
      const auto& given = first.body->operands[1 - i];
      if (depends_on(given, axes_[2].name) || depends_on(given, axes_[1].name)) continue;
      return Factors{weight, given, state->tensor.buffer};
    }
    return std::nullopt;
  }

 private:
  [[nodiscard]] bool depends_on_step(const StageExpr& node) const {
    return depends_on(node, axes_[0].name) || depends_on(node, axes_[1].name);
  }

  [[nodiscard]] bool is_state_before(const StageExpr& node) const {
    if (node->op != StageOp::load || !shape_.stored().contains(node->tensor.buffer)) return false;
    const auto step = axis_index(axes_[1].name);
    return is_index_along(node->operands[0], axes_[0]) &&
           same_expression(node->operands[1], shape_.product().backwards ? step + 1 : step - 1) &&
           is_index_along(node->operands[2], shape_.product().inner[0]);
  }

  const StepShape& shape_;
  const StageAxes& axes_;
};

bool fits_registers(std::int64_t gates, std::int64_t length) {
  const auto threads = (gates * length + 31) / 32 * 32;
  return length <= k_longest_row && threads <= k_most_threads &&
         threads * (length + k_other_registers) <= k_most_registers;
}

/// "2 * hidden_size + feature" of the gate that a work-item has a row of.
std::string row_line(const StepShape& shape, KernelScope& scope) {
  if (shape.maps().empty()) return "";
  std::string chosen;
  for (std::size_t gate = 0; gate < shape.gates().size(); ++gate) {
    const bool last = gate + 1 == shape.gates().size();
    if (!last) chosen += fmt::format("threadIdx.x / c_length == {} ? ", gate);
    chosen += without_parentheses(scope.text(shape.gates()[gate])) + (last ? "" : " : ");
  }
  return broken_statement(fmt::format("const int {} = {};", scope.axis(shape.product().axes[2].name), chosen));
}

/// How many work-items there are, and for which widths, where those are an axis.
void add_limits(GroupKernels& kernels, std::int64_t gates, const Extent& width, const std::string& length) {
  const auto items = fmt::format("round_up({} * {}, 32)", gates, width.text());
  kernels.launches[0].block = {items};
  if (width.is_constant()) return;
  kernels.defines = {{length, width.text()}};
  kernels.constraints = {fmt::format("{0} <= {1} && {2} <= {3} && {2} * ({0} + {4}) <= {5}", width.text(),
                                     k_longest_row, items, k_most_threads, k_other_registers, k_most_registers)};
}

}  // namespace

std::optional<GroupKernels> block_recurrence_kernels(const GroupContext& context, const StepShape& shape) {
  const auto factors = FactorFinder(shape).find();
  const auto& axes = shape.axes();
  const auto& width = axes[2].extent;
  const auto gates = static_cast<std::int64_t>(shape.gates().size());
  const bool fits = factors && context.buffers[factors->state].dtype == DType::f32 &&
                    shape.product().inner[0].extent.text() == width.text() && fits_registers(gates, width.value()) &&
                    (width.is_constant() || is_c_identifier(width.text()));
  if (!fits) return std::nullopt;
  const auto length = width.is_constant() ? width.text() : "LENGTH_" + width.text();
  const auto threads = fmt::format("(({} * {} + 31) / 32 * 32)", gates, length);
  KernelScope scope(context.buffers, shape.stages(), context.dialect,
                    {"states", "weights", "state", "place", "part", "parts", length});
  scope.divide_quickly(context.program);
  const bool backwards = shape.product().backwards;
  const auto step = scope.axis(axes[1].name), steps = scope.extent(axes[1].extent);
  const auto row = row_line(shape, scope);
  auto weight = scope.text(factors->weight), given = scope.text(factors->given);
  StateTexts texts(context, shape, scope, "c_parts");
  const auto feature = scope.axis(axes[2].name);
  auto states = texts.states([&](std::size_t gate) { return fmt::format("sums[{}][item][{}]", gate, feature); },
                             factors->state, "state");
  const Fillings holes = {{"feature", feature},
                          {"sequence", scope.axis(axes[0].name)},
                          {"sequences", scope.extent(axes[0].extent)},
                          {"k", scope.axis(shape.product().inner[0].name)},
                          {"length", length},
                          {"threads", threads},
                          {"gates", std::to_string(gates)},
                          {"row", row},
                          {"weight", std::move(weight)},
                          {"given", std::move(given)},
                          {"steps", backwards ? fmt::format("for (int {0} = {1} - 1; {0} >= 0; --{0}) {{", step, steps)
                                              : fmt::format("for (int {0} = 0; {0} < {1}; ++{0}) {{", step, steps)},
                          {"declared", join_lines(texts.declared())},
                          {"known", join_lines(texts.known())},
                          {"states", join_lines(states)}};
  const auto body = fill_lines(kernel_text("program/recurrence.cu", "block"), holes) + "\n";
  const KernelSignature signature(context, scope, shape.stored());
  auto kernels = signature.kernels(kernel_of_buffer(context, shape.stages().back()->buffer), threads, body);
  kernels.launches[0].grid = {fmt::format("ceil_div({}, BLOCK_SEQUENCES)", axes[0].extent.text())};
  add_limits(kernels, gates, width, length);
  const auto units = std::max<std::int64_t>(1, context.device.compute_units);
  const auto each = (axes[0].extent.value() + units - 1) / units;
  kernels.tunables = {{"BLOCK_SEQUENCES", {1, 2, 4}, each <= 2 ? std::max<std::int64_t>(1, each) : 4}};
  return kernels;
}

}  // namespace kw

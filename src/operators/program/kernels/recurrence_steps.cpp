#include "operators/program/kernels/recurrence_steps.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "codegen/text.hpp"
#include "language/kernel_texts.hpp"
#include "operators/program/kernels/kernel_signature.hpp"
#include "operators/program/kernels/recurrence_states.hpp"
#include "operators/program/kernels/row_sharing.hpp"
#include "operators/program/kernels/stage_kernel.hpp"

namespace kw {
namespace {

/// A warp has the sums of as many sequences as registers hold, and of few gates those of more features, as far as that
/// leaves enough sums for all units to hide what each waits for (docs/results/2026-11-29-recurrent-layers.md).
std::vector<Tunable> step_tunables(const StepShape& shape, const DeviceFacts& device) {
  constexpr std::int64_t k_most_sequences = 16;
  constexpr std::int64_t k_sums_of_sequence = 4;
  constexpr std::int64_t k_rows_per_unit = 8;
  const auto count = shape.axes()[0].extent.value();
  const auto gates = static_cast<std::int64_t>(shape.gates().size());
  const auto enough = k_rows_per_unit * device.compute_units;
  const auto rows = [&](std::int64_t sequences) {
    return gates * shape.axes()[2].extent.value() * ((count + sequences - 1) / sequences);
  };
  std::int64_t sequences = 1;
  while (sequences < std::min(count, k_most_sequences) && rows(2 * sequences) >= enough) sequences *= 2;
  std::int64_t features = 1;
  while (2 * features * gates <= k_sums_of_sequence && rows(sequences) / (2 * features) >= enough) features *= 2;
  return {{"STEP_WARPS", {1, 2, 4, 8}, 2},
          {"STEP_FEATURES", {1, 2, 4}, features},
          {"STEP_SEQUENCES", {1, 2, 4, 8, 16, 32}, sequences}};
}

std::string product_lines(const StepShape& shape, KernelScope& scope) {
  std::vector<std::string> lines;
  for (std::size_t gate = 0; gate < shape.gates().size(); ++gate) {
    const auto product = without_parentheses(scope.text(shape.of_gate(shape.product().body, gate)));
    lines.push_back(broken_statement(fmt::format("sums[part][{}][item] += {};", gate, product)));
  }
  return join_lines(lines);
}

}  // namespace

GroupKernels step_kernels(const GroupContext& context, const StepShape& shape) {
  const auto& axes = shape.axes();
  KernelScope scope(context.buffers, shape.stages(), context.dialect,
                    {"gate", "first_feature", "own", "parts", "part", "given"});
  scope.divide_quickly(context.program);
  const auto steps = axes[1].extent.text();
  scope.pass_axis(axes[1].name, shape.product().backwards ? fmt::format("{} - 1 - repetition", steps) : "repetition");
  // In the order of the text, for names are given as they are needed.
  StateTexts texts(context, shape, scope, "STEP_FEATURES");
  auto products = product_lines(shape, scope);
  auto states = join_lines(texts.states([](std::size_t gate) { return fmt::format("sums[part][{}][0]", gate); }));
  const Fillings holes = {{"feature", scope.axis(axes[2].name)},
                          {"features", scope.extent(axes[2].extent)},
                          {"sequence", scope.axis(axes[0].name)},
                          {"sequences", scope.extent(axes[0].extent)},
                          {"k", scope.axis(shape.product().inner[0].name)},
                          {"length", scope.extent(shape.product().inner[0].extent)},
                          {"gates", std::to_string(shape.gates().size())},
                          {"shuffle_xor", warp_word(context.dialect, "shuffle_xor")},
                          {"mask", shuffle_mask(context.dialect)},
                          {"declared", join_lines(texts.declared())},
                          {"known", join_lines(texts.known())},
                          {"products", std::move(products)},
                          {"states", std::move(states)}};
  const auto body = fill_lines(kernel_text("program/recurrence.cu", "step"), holes) + "\n";
  const KernelSignature signature(context, scope, shape.stored());
  auto kernels = signature.kernels(kernel_of_buffer(context, shape.stages().back()->buffer), "STEP_WARPS * 32", body);
  auto& launch = kernels.launches[0];
  launch.grid = {fmt::format("ceil_div({}, STEP_WARPS * STEP_FEATURES)", axes[2].extent.text()),
                 fmt::format("ceil_div({}, STEP_SEQUENCES)", axes[0].extent.text())};
  launch.block.emplace_back("1");
  launch.repeat = steps;
  kernels.tunables = step_tunables(shape, context.device);
  return kernels;
}

}  // namespace kw

#include "operators/program/kernels/contract_taps.hpp"

#include <algorithm>

#include "codegen/text.hpp"
#include "language/kernel_texts.hpp"
#include "operators/program/kernels/affine_index.hpp"
#include "operators/program/kernels/contract_text.hpp"

namespace kw {
namespace {

bool guard_names(const StageExpr& guard, const StageAxis& axis) {
  return axes_named(guard).count(axis.name) > 0;
}

/// Bits of an axis follow those of the axes before it.
std::string bit_of(const std::string& index, std::int64_t first) {
  return first == 0 ? "1u << " + index : fmt::format("1u << ({} + {})", index, first);
}

}  // namespace

StageAxes window_taps(const StageAxes& inner, const std::vector<StageExpr>& guards) {
  constexpr std::int64_t k_most_bits = 31;
  StageAxes taps;
  std::int64_t count = 0;
  for (const auto& axis : inner) {
    if (std::none_of(guards.begin(), guards.end(), [&](const StageExpr& guard) { return guard_names(guard, axis); }))
      continue;
    if (!axis.extent.is_constant() || axis.extent.value() > k_most_bits) return {};
    count += axis.extent.value();
    taps.push_back(axis);
  }
  const bool apart = std::all_of(guards.begin(), guards.end(), [&](const StageExpr& guard) {
    return std::count_if(taps.begin(), taps.end(), [&](const StageAxis& tap) { return guard_names(guard, tap); }) <= 1;
  });
  return apart && count <= k_most_bits ? taps : StageAxes();
}

std::string taps_statements(KernelScope& scope, const StageAxes& taps, const std::vector<StageExpr>& guards,
                            const std::string& inside, const std::string& array) {
  std::vector<StageExpr> of_all;
  for (const auto& guard : guards) {
    if (std::none_of(taps.begin(), taps.end(), [&](const StageAxis& tap) { return guard_names(guard, tap); }))
      of_all.push_back(guard);
  }
  std::vector<std::string> loops;
  std::int64_t first = 0;
  for (const auto& tap : taps) {
    auto own = of_all;
    for (const auto& guard : guards) {
      if (guard_names(guard, tap)) own.push_back(guard);
    }
    loops.push_back(fill_lines(kernel_text("program/contract_loads.cu", "taps"),
                               {{"axis", scope.axis(tap.name)},
                                {"count", std::to_string(tap.extent.value())},
                                {"guard", fmt::format("{} && {}", inside, condition_text(scope, own))},
                                {"taps", array},
                                {"bit", bit_of(scope.axis(tap.name), first)}}));
    first += tap.extent.value();
  }
  return join_lines(loops);
}

std::string tap_bits(KernelScope& scope, const StageAxes& taps, const std::string& condition) {
  std::string bits;
  std::int64_t first = 0;
  for (const auto& tap : taps) {
    bits += (bits.empty() ? "" : " | ") + bit_of(scope.axis(tap.name), first);
    first += tap.extent.value();
  }
  return fmt::format("k < end{} ? {} : 1u << 31", condition.empty() ? "" : " && " + condition, bits);
}

}  // namespace kw

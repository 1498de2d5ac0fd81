// Functions that printed mod expressions may call. Python's // and % round towards minus infinity where C's / and %
// round towards zero. Division of integers by zero gives 0, as in the oracle: it must not trap, not least because lanes
// past the last key evaluate the mod too, on indices the user never thought of.
#include "codegen/kernel_helpers.hpp"

#include "language/kernel_texts.hpp"

namespace kw {
namespace {

struct ArithmeticHelper {
  KernelHelper helper;
  const char* name;  ///< of the function and of the section with its definition
  const char* file = "shared/helpers.cl";
};
constexpr ArithmeticHelper k_arithmetic[] = {
    {KernelHelper::floor_div, "floor_div"},
    {KernelHelper::floor_mod, "floor_mod"},
    {KernelHelper::real_mod, "real_mod"},
    {KernelHelper::real_floor_div, "real_floor_div"},
    {KernelHelper::shift_left, "shift_left"},
    {KernelHelper::shift_right, "shift_right"},
    {KernelHelper::floor_div16, "floor_div16"},
    {KernelHelper::floor_mod16, "floor_mod16"},
    {KernelHelper::real_mod16, "real_mod16"},
    {KernelHelper::real_floor_div16, "real_floor_div16"},
    {KernelHelper::shift_left16, "shift_left16"},
    {KernelHelper::shift_right16, "shift_right16"},
    {KernelHelper::tanh16, "tanh16"},
    {KernelHelper::tanh_rational, "tanh_rational", "shared/helpers.cu"},
    {KernelHelper::to_bf16, "to_bf16"},
    {KernelHelper::to_bf16_16, "to_bf16_16"},
};

const ArithmeticHelper* arithmetic_helper(KernelHelper helper) {
  for (const ArithmeticHelper& known : k_arithmetic)
    if (known.helper == helper) return &known;
  return nullptr;
}

}  // namespace

std::string helper_name(KernelHelper helper) {
  const ArithmeticHelper* arithmetic = arithmetic_helper(helper);
  return arithmetic != nullptr ? arithmetic->name : capture_helper_name(helper);
}

std::string helper_source(std::set<KernelHelper> helpers, Dialect dialect) {
  if (helpers.count(KernelHelper::real_floor_div) > 0) helpers.insert(KernelHelper::real_mod);
  if (helpers.count(KernelHelper::real_floor_div16) > 0) helpers.insert(KernelHelper::real_mod16);
  const std::set<KernelHelper> asked_for = helpers;
  for (const KernelHelper helper : asked_for)
    for (const KernelHelper needed : capture_helper_needs(helper)) helpers.insert(needed);
  std::string text;
  for (const KernelHelper helper : helpers) {
    const ArithmeticHelper* arithmetic = arithmetic_helper(helper);
    text += arithmetic != nullptr ? in_dialect(std::string(kernel_text(arithmetic->file, arithmetic->name)), dialect)
                                  : capture_helper_source(helper, dialect);
  }
  return text;
}

}  // namespace kw

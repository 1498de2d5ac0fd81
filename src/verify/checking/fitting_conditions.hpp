#pragma once
// What tells the workloads on which a kernel is right from those on which it is wrong: a guess for whoever repairs it,
// which fits what was seen and proves nothing. Given only workloads that may be named.

#include <string>
#include <vector>

#include "tensor/int_expr.hpp"
#include "tensor/tensor.hpp"

namespace kw {

struct JudgedSizes {
  Axes axes;
  bool right = false;
};

/// "Skv <= KEYS (16)", "Sq is a multiple of BM (4)", "Skv = Sq": conditions that hold wherever the kernel is right and
/// nowhere else, two at most, those with one of `constants` (the kernel's tunables and definitions) first. Empty where
/// all are right, all are wrong, or none fits.
[[nodiscard]] std::vector<std::string> fitting_conditions(const std::vector<JudgedSizes>& judged,
                                                          const IntBindings& constants);

}  // namespace kw

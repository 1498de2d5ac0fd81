#pragma once
// Which taps of a window lie inside of a tensor, as bits: of a place for each index along each of the window's axes, of
// a step for its own ones. An element is there where its place has all bits of its step.

#include <string>
#include <vector>

#include "operators/program/kernels/kernel_scope.hpp"

namespace kw {

/// The axes among `inner` that the guards name. None where the bits do not fit an int, or a guard names two of them.
[[nodiscard]] StageAxes window_taps(const StageAxes& inner, const std::vector<StageExpr>& guards);

/// Statements in CUDA C++ that set the bits of a place, ${array}[i], which is 0 before; none where `inside` does not
/// hold.
[[nodiscard]] std::string taps_statements(KernelScope& scope, const StageAxes& taps,
                                          const std::vector<StageExpr>& guards, const std::string& inside,
                                          const std::string& array);

/// The bits of step `k`, whose indices have names; one that no place has where there is no such step, or `condition`
/// does not hold. It may be empty.
[[nodiscard]] std::string tap_bits(KernelScope& scope, const StageAxes& taps, const std::string& condition);

}  // namespace kw

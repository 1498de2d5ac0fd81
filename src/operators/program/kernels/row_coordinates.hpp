#pragma once
// Indices along the axes of rows that are counted as one.

#include <string>
#include <vector>

#include "operators/program/kernels/kernel_scope.hpp"

namespace kw {

/// Statements that define, from the variable called `row`, the index along each axis that the scope has printed.
[[nodiscard]] std::vector<std::string> row_coordinates(const StageAxes& rows, KernelScope& scope,
                                                       const std::string& row = "row");

}  // namespace kw

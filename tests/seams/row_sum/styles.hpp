#pragma once
// Ways of writing row_sum in OpenCL C: "plain", one work-item per sum, and "groups", one work-group per sum.

#include <vector>

#include "codegen/codegen.hpp"

namespace kw {

[[nodiscard]] const std::vector<Style>& row_sum_styles();

}  // namespace kw

#pragma once
// The ways of writing a tensor program.

#include <vector>

#include "codegen/codegen.hpp"

namespace kw {

/// Of each target from the plainest to the fastest.
[[nodiscard]] const std::vector<Style>& program_styles();

}  // namespace kw

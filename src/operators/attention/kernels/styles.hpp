#pragma once
// The ways of writing attention.

#include <vector>

#include "codegen/codegen.hpp"

namespace kw {

/// Of each target from the plainest to the fastest.
[[nodiscard]] const std::vector<Style>& attention_styles();

}  // namespace kw

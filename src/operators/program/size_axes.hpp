#pragma once
// Which integers of a module's file are sizes: axes that may have any extent. The others are settings, such as the
// kernel and the stride of a convolution: a kernel may be written for them.

#include <string>
#include <vector>

#include "program/graph/graph.hpp"

namespace kw {

/// Names that stand in the shape of an input, a parameter or an output, and in no attribute but one that is a size
/// itself, in the file's order.
[[nodiscard]] std::vector<std::string> size_axes(const Program& program);

}  // namespace kw

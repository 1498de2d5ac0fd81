#pragma once
// Problems as files ask for them, of modules of one line, at their own size.

#include <string>

#include "problem/problem.hpp"

namespace kw::program_test {

/// `forward` is an expression of x, and of w where there is a second input; `inputs` are those of get_inputs(), which
/// may name the axes N = 4, C = 16, H = 64 and W = 32.
[[nodiscard]] Problem image_problem(const std::string& forward, const std::string& inputs = "torch.rand(N, C, H, W)");

}  // namespace kw::program_test

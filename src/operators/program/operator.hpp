#pragma once
// Tensor programs as an operator: modules of PyTorch, read and never executed.

#include "problem/operator.hpp"

namespace kw {

[[nodiscard]] const Operator& program_operator();

}  // namespace kw

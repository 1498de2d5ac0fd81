#pragma once
// Attention as an operator: one registration brings all its parts.

#include "problem/operator.hpp"

namespace kw {

[[nodiscard]] const Operator& attention_operator();

}  // namespace kw

#pragma once
// The rules by theme; simplify.hpp lists and applies all of them.

#include <span>

#include "program/simplify/simplify.hpp"

namespace kw {

[[nodiscard]] std::span<const SimplificationRule> identity_rules();
[[nodiscard]] std::span<const SimplificationRule> function_rules();
[[nodiscard]] std::span<const SimplificationRule> range_rules();
[[nodiscard]] std::span<const SimplificationRule> sum_rules();

}  // namespace kw

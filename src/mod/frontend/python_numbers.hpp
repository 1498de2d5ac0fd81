#pragma once
// Arithmetic on numbers known at trace time, with Python's rules: int grows into float only by `/` and `**`, `//` and
// `%` floor, bool is an int. Integers are held to 64 bits; leaving them is errc::mod_limit.

#include <string_view>

#include "base/result.hpp"
#include "mod/frontend/value.hpp"

namespace kw {

/// Both operands are numbers; `op` is "+", "-", "*", "/", "//", "%", "**", "&", "|", "^", "<<", ">>" or a comparison.
[[nodiscard]] Result<ModValue> python_binary(std::string_view op, const ModValue& left, const ModValue& right,
                                             const SourcePlace& where);
/// "-", "+", "~".
[[nodiscard]] Result<ModValue> python_unary(std::string_view op, const ModValue& operand, const SourcePlace& where);
[[nodiscard]] bool python_truth(const ModValue& number);
[[nodiscard]] double python_float(const ModValue& number);

}  // namespace kw

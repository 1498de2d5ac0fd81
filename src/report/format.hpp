#pragma once
// Numbers as people read them: a fitting unit, and as many digits as the interval supports.

#include <string>
#include <string_view>

#include "report/model.hpp"

namespace kw {

/// A number split for a printer that sets its parts differently.
struct NumberText {
  std::string digits;  ///< "11.72"
  std::string unit;    ///< " ms", "\u00d7": with the space before it where one belongs; empty for bare numbers
  std::string spread;  ///< "[11.65, 11.80]"; empty without an interval
  [[nodiscard]] std::string value() const { return digits + unit; }
};
/// Without an interval four significant digits; with one, the interval's width keeps two, and the value has the same
/// number of decimals.
[[nodiscard]] NumberText format_parts(const Number& number);

/// "11.72 ms [11.65, 11.80]"; an absent value is an en dash.
[[nodiscard]] std::string format_value(const Value& value);

/// "60 s", "2 min 5 s", "1 h 3 min".
[[nodiscard]] std::string format_duration(double seconds);

}  // namespace kw

#include "device/arithmetic_functions.hpp"

#include <algorithm>
#include <array>

namespace kw {

bool is_arithmetic_function(std::string_view name) {
  constexpr auto k_names = std::to_array<std::string_view>(
      {"acos", "acosh", "asin",  "asinh", "atan",  "atan2", "atanh", "cbrt",      "ceil",      "copysign", "cos",
       "cosh", "erf",   "erfc",  "exp",   "exp2",  "expm1", "fabs",  "floor",     "fma",       "fmax",     "fmin",
       "fmod", "hypot", "ldexp", "log",   "log10", "log1p", "log2",  "nearbyint", "nextafter", "pow",      "remainder",
       "rint", "round", "sin",   "sinh",  "sqrt",  "tan",   "tanh",  "tgamma",    "trunc"});
  if (std::ranges::find(k_names, name) != k_names.end()) return true;
  return name.ends_with('f') && std::ranges::find(k_names, name.substr(0, name.size() - 1)) != k_names.end();
}

}  // namespace kw

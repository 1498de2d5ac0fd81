#pragma once
// The program's version, recorded with every run.

#include <string_view>

namespace kw {

inline constexpr std::string_view k_version = "0.1.0";

}  // namespace kw

#pragma once
// The languages there are. Each function is defined in the file of its name and gives one row, for a program's list
// (language.hpp).

#include "language/language.hpp"

namespace kw {

[[nodiscard]] const Language& opencl_language();
[[nodiscard]] const Language& cuda_language();
[[nodiscard]] const Language& hip_language();

}  // namespace kw

#pragma once
// What a kernel's source may include: the headers that its language's own types and functions need, and those of the C
// library that hold names of numbers and types alone. They mean the same on every machine, so a bundle stays whole.

#include <array>
#include <span>
#include <string_view>

namespace kw {

/// Headers of the C library that declare no function a kernel could not call without them.
inline constexpr auto k_c_headers = std::to_array<std::string_view>(
    {"cfloat", "climits", "cmath", "cstddef", "cstdint", "float.h", "limits.h", "math.h", "stddef.h", "stdint.h"});

/// Language::headers of a target; none for a target whose kernels include nothing ("opencl"), and for unknown ones.
[[nodiscard]] std::span<const std::string_view> language_headers(std::string_view target);

/// Whether a kernel of the target may include it.
[[nodiscard]] bool is_kernel_header(std::string_view target, std::string_view header);

}  // namespace kw

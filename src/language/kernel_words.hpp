#pragma once
// Names that no kernel can have, because its language has them for something else: its words and types, and in OpenCL C
// its functions. The compiler says that in words that nobody reads as that.

#include <string_view>

namespace kw {

struct Language;

[[nodiscard]] bool is_no_kernel_name(std::string_view name, const Language& language);

}  // namespace kw

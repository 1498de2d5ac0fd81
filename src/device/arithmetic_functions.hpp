#pragma once
// Functions of the machine's mathematical library that a compiled kernel may call: they take and give numbers, and
// reach no memory, file, thread, clock or state.

#include <string_view>

namespace kw {

/// "exp", and "expf" as well.
[[nodiscard]] bool is_arithmetic_function(std::string_view name);

}  // namespace kw

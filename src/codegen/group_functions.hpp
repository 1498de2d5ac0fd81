#pragma once
// Kernels for CPUs in OpenCL C, with their work in functions. PoCL inlines a kernel into each of the two functions that
// start its work-groups, keeps it besides, and optimizes all three: what a kernel calls is compiled once.

#include <string>
#include <string_view>

namespace kw {

/// `source` with the body of each kernel of single work-items in a function that the kernel calls. What the body asks
/// of its place among the work-groups becomes parameters, since PoCL inlines functions that ask themselves. Kernels are
/// found as ours are written: the qualifier and "void name(" on lines of their own, "}" at the start of the last one.
[[nodiscard]] std::string with_group_functions(std::string_view source);

/// `text` as it stands in such a function: with the names of the parameters where it asks for its place.
[[nodiscard]] std::string with_places_named(std::string text);

}  // namespace kw

#pragma once
// Names that kernels use already, which a user's axes and tensors must not meet there: words of the languages, and what
// the files of kernels/ use. The files are scanned, so that a new kernel reserves its names by being there. Lines
// "// definitions: NAME..." in a file's opening comment list tunables and definitions that bundles hand to the
// compiler; lines "// axes: NAME..." list what a file calls as the problem does.

#include <string_view>

namespace kw {

/// A word of OpenCL C, or a function or constant that its kernels use.
[[nodiscard]] bool is_c_word(std::string_view name);

/// A macro of a kernel file, or a definition or tunable of its bundles: it stands in bundles under this name.
[[nodiscard]] bool is_kernel_definition(std::string_view name);

/// Any name that a kernel may use beside a user's: all of the above, words of CUDA C++, macros of the C library, and
/// the identifiers of the kernel files. What is local to the functions of kernels/shared does not count, since they
/// take no user's name.
[[nodiscard]] bool is_taken_in_kernels(std::string_view name);

}  // namespace kw

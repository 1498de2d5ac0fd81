#pragma once
// The languages that kernels are written in, where they differ for text that is otherwise the same C: qualifiers,
// pointers, elements of buffers, names of functions.

#include <string>

#include "spec/mod_expr.hpp"
#include "spec/tensor.hpp"

namespace kw {

enum class SourceLanguage { opencl, cuda };

/// What a function opens with that kernels call.
[[nodiscard]] const char* function_qualifier(SourceLanguage language);

/// A function definition without vectors, written in OpenCL C, in `language`.
[[nodiscard]] std::string in_language(std::string opencl_text, SourceLanguage language);

/// What a buffer of `dtype` is a pointer to, such as half for f16.
[[nodiscard]] const char* element_type(DType dtype, SourceLanguage language = SourceLanguage::opencl);

/// Element `offset` of a buffer, as a float or an int.
[[nodiscard]] std::string element_text(DType dtype, const std::string& buffer, const std::string& offset,
                                       SourceLanguage language = SourceLanguage::opencl);

/// A kernel's or function's parameter that is a buffer no other parameter points into.
[[nodiscard]] std::string buffer_parameter(DType dtype, bool writable, const std::string& name,
                                           SourceLanguage language);

/// The library function for an operation on reals: "exp2" or, where names tell types apart, "exp2f". The operation must
/// have one.
[[nodiscard]] std::string real_function(ExprOp op, SourceLanguage language);

}  // namespace kw

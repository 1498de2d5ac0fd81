#pragma once
// The languages that kernels are written in, where they differ for text that is otherwise the same C: qualifiers,
// pointers, elements of buffers, names of functions.

#include <string>

#include "codegen/text.hpp"
#include "spec/mod_expr.hpp"
#include "spec/tensor.hpp"

namespace kw {

/// HIP C++ is CUDA C++ but for what warp_fillings() has; where the two are alike, cuda stands for both in names.
enum class SourceLanguage { opencl, cuda, hip };

[[nodiscard]] inline bool is_device_cpp(SourceLanguage language) {
  return language != SourceLanguage::opencl;
}

/// A language's target, as bundles name it.
[[nodiscard]] const char* target_of(SourceLanguage language);

/// For the holes of CUDA C++ where HIP C++ differs: `warp_definitions`, lines before the first function; `shuffle_xor`
/// and `mask`, the name of a shuffle and its first argument; `sync_lanes`, which orders what lanes of a warp do to
/// shared memory; `fast_exp2`, the body of a function of `x`.
[[nodiscard]] Fillings warp_fillings(SourceLanguage language);

/// What a function opens with that kernels call.
[[nodiscard]] const char* function_qualifier(SourceLanguage language);

/// A function definition without vectors, written in OpenCL C, in `language`.
[[nodiscard]] std::string in_language(std::string opencl_text, SourceLanguage language);

/// What a buffer of `dtype` is a pointer to, such as half for f16, and ushort for bf16, which OpenCL C lacks.
[[nodiscard]] const char* element_type(DType dtype, SourceLanguage language = SourceLanguage::opencl);

/// Element `offset` of a buffer, as a float or an int.
[[nodiscard]] std::string element_text(DType dtype, const std::string& buffer, const std::string& offset,
                                       SourceLanguage language = SourceLanguage::opencl);

/// The statement that stores a float `value` as element `index` of a buffer of floats, rounded to the nearest. bf16 in
/// OpenCL C calls KernelHelper::to_bf16.
[[nodiscard]] std::string store_text(DType dtype, const std::string& buffer, const std::string& index,
                                     const std::string& value, SourceLanguage language = SourceLanguage::opencl);

/// What CUDA C++ calls f16 or bf16, pairs of it, and their conversions; floats are rounded to the nearest.
struct Cuda16BitFloat {
  const char* name;  ///< in mma.sync and in the simulator's functions for it
  const char* header;
  const char* pair;
  const char* to_float;
  const char* from_float;
  const char* pair_to_floats;
  const char* pair_from_floats;
};
[[nodiscard]] const Cuda16BitFloat& cuda_16_bit_float(DType dtype, SourceLanguage language = SourceLanguage::cuda);

/// A kernel's or function's parameter that is a buffer no other parameter points into.
[[nodiscard]] std::string buffer_parameter(DType dtype, bool writable, const std::string& name,
                                           SourceLanguage language);

/// The library function for an operation on reals: "exp2" or, where names tell types apart, "exp2f". The operation must
/// have one.
[[nodiscard]] std::string real_function(ExprOp op, SourceLanguage language);

}  // namespace kw

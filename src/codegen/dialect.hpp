#pragma once
// How the generators spell a language where the text is otherwise the same C: qualifiers, pointers, elements of
// buffers, names of functions. One file per language (dialect_opencl.cpp, ...), which names the language's row; styles
// choose the dialect that they are written in.

#include <string>

#include "codegen/text.hpp"
#include "language/language.hpp"
#include "mod/expression/expr.hpp"
#include "tensor/tensor.hpp"

namespace kw {

/// What CUDA C++ and HIP C++ call f16 or bf16, pairs of it, and their conversions; floats are rounded to the nearest.
struct Cuda16BitFloat {
  const char* name;  ///< in mma.sync and in the simulator's functions for it
  const char* header;
  const char* pair;
  const char* to_float;
  const char* from_float;
  const char* pair_to_floats;
  const char* pair_from_floats;
};

/// No member has a default. Texts of 16-bit floats are filled with ${buffer}, ${index} and ${value}.
struct Spelling {
  const Language& language;
  const char* includes;            ///< the lines that every source opens with
  const char* function_qualifier;  ///< what a function opens with that kernels call
  const char* buffer_qualifier;    ///< before the type of a buffer, with a blank behind it
  const char* unaliased;           ///< after the `*` of a buffer that no other parameter points into
  const char* f16;                 ///< what a buffer of it is a pointer to
  const char* bf16;
  const char* boolean;
  const char* load_f16;  ///< an element as a float
  const char* load_bf16;
  const char* store_f16;  ///< the statement
  const char* store_bf16;
  bool has_vectors;                     ///< float16 and int16 with arithmetic, functions and conversions
  bool typed_functions;                 ///< "exp2f" beside "exp2"
  bool unsigned_abs;                    ///< of an int
  bool divisions_branch;                ///< a division is a dozen instructions, with a slow path
  const char* float_to_int;             ///< towards zero, saturating, and NaN to 0
  const Cuda16BitFloat* f16_functions;  ///< null where load_f16 and its like say everything
  const Cuda16BitFloat* bf16_functions;
  /// Lanes of a warp as an expression of bundles, and whether it is a number that sources may hold.
  const char* lanes;
  bool lanes_are_fixed;
  /// For the holes of CUDA C++ where HIP C++ differs: `warp_definitions`, lines before the first function;
  /// `shuffle_xor` and `mask`, the name of a shuffle and its first argument; `sync_lanes`, which orders what lanes of a
  /// warp do to shared memory; `fast_exp2`, the body of a function of `x`. Empty where there are no warps.
  Fillings warp;
  /// What a kernel of ${threads} work-items per group opens with, and the index of a work-item among all, as a long.
  const char* kernel_qualifier;
  const char* global_index;
};

/// Never null; lives as long as the program.
using Dialect = const Spelling*;

[[nodiscard]] Dialect opencl_dialect();
[[nodiscard]] Dialect cuda_dialect();
[[nodiscard]] Dialect hip_dialect();

/// CUDA C++; what a language that differs in a few spellings begins with.
[[nodiscard]] Spelling cuda_spelling(const Language& language);

/// The language's name, as bundles call their target.
[[nodiscard]] std::string target_of(Dialect dialect);

/// A function definition without vectors, written in OpenCL C, in `dialect`.
[[nodiscard]] std::string in_dialect(std::string opencl_text, Dialect dialect);

/// What a buffer of `dtype` is a pointer to, such as half for f16, and ushort for bf16, which OpenCL C lacks.
[[nodiscard]] const char* element_type(DType dtype, Dialect dialect = opencl_dialect());

/// Element `offset` of a buffer, as a float or an int.
[[nodiscard]] std::string element_text(DType dtype, const std::string& buffer, const std::string& offset,
                                       Dialect dialect = opencl_dialect());

/// The statement that stores a float `value` as element `index` of a buffer of floats, rounded to the nearest. bf16 in
/// OpenCL C calls KernelHelper::to_bf16.
[[nodiscard]] std::string store_text(DType dtype, const std::string& buffer, const std::string& index,
                                     const std::string& value, Dialect dialect = opencl_dialect());

/// Spelling::f16_functions or bf16_functions, which the dialect must have.
[[nodiscard]] const Cuda16BitFloat& cuda_16_bit_float(DType dtype, Dialect dialect = cuda_dialect());

/// A kernel's or function's parameter that is a buffer no other parameter points into.
[[nodiscard]] std::string buffer_parameter(DType dtype, bool writable, const std::string& name, Dialect dialect);

/// The library function for an operation on reals: "exp2" or, where names tell types apart, "exp2f". The operation must
/// have one.
[[nodiscard]] std::string real_function(ExprOp op, Dialect dialect);

}  // namespace kw

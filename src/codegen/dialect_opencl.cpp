// OpenCL C 1.2, the dialect that texts without vectors are written in.
#include "codegen/dialect.hpp"
#include "language/rows.hpp"

namespace kw {

Dialect opencl_dialect() {
  static const Spelling k_spelling{
      .language = opencl_language(),
      .includes = "",
      .function_qualifier = "static inline",
      .buffer_qualifier = "__global ",
      .unaliased = "restrict",
      .f16 = "half",
      .bf16 = "ushort",
      .boolean = "uchar",
      .load_f16 = "vload_half(${index}, ${buffer})",
      .load_bf16 = "as_float((uint)${buffer}[${index}] << 16)",
      .store_f16 = "vstore_half_rte(${value}, ${index}, ${buffer});",
      .store_bf16 = "${buffer}[${index}] = to_bf16(${value});",
      .has_vectors = true,
      .typed_functions = false,
      .unsigned_abs = true,
      .divisions_branch = false,
      .float_to_int = "convert_int_sat",
      .f16_functions = nullptr,
      .bf16_functions = nullptr,
      .lanes = "",
      .lanes_are_fixed = false,
      .warp = {},
      .kernel_qualifier = "__kernel __attribute__((reqd_work_group_size(${threads}, 1, 1)))",
      .global_index = "get_global_id(0)",
  };
  return &k_spelling;
}

}  // namespace kw

// CUDA C++.
#include "codegen/dialect.hpp"
#include "language/kernel_texts.hpp"
#include "language/rows.hpp"

namespace kw {
namespace {

constexpr Cuda16BitFloat k_cuda_f16 = {"f16",          "cuda_fp16.h",    "__half2",          "__half2float",
                                       "__float2half", "__half22float2", "__floats2half2_rn"};
constexpr Cuda16BitFloat k_cuda_bf16 = {"bf16",
                                        "cuda_bf16.h",
                                        "__nv_bfloat162",
                                        "__bfloat162float",
                                        "__float2bfloat16",
                                        "__bfloat1622float2",
                                        "__floats2bfloat162_rn"};

}  // namespace

Spelling cuda_spelling(const Language& language) {
  return {
      .language = language,
      .includes = "",
      .function_qualifier = "__device__ __forceinline__",
      .buffer_qualifier = "",
      .unaliased = "__restrict__",
      .f16 = "__half",
      .bf16 = "__nv_bfloat16",
      .boolean = "unsigned char",
      .load_f16 = "__half2float(${buffer}[${index}])",
      .load_bf16 = "__bfloat162float(${buffer}[${index}])",
      .store_f16 = "${buffer}[${index}] = __float2half(${value});",
      .store_bf16 = "${buffer}[${index}] = __float2bfloat16(${value});",
      .has_vectors = false,
      .typed_functions = true,
      .unsigned_abs = false,
      .divisions_branch = true,
      .float_to_int = "__float2int_rz",
      .f16_functions = &k_cuda_f16,
      .bf16_functions = &k_cuda_bf16,
      .lanes = "32",
      .lanes_are_fixed = true,
      .warp = {{"warp_definitions", "#define ALL_LANES 0xffffffffu"},
               {"shuffle_xor", "__shfl_xor_sync"},
               {"shuffle_up", "__shfl_up_sync"},
               {"mask", "ALL_LANES, "},
               {"sync_lanes", "__syncwarp()"},
               {"fast_exp2", fill_lines(kernel_text("shared/helpers.cu", "exp2_cuda"))}},
      .kernel_qualifier = "extern \"C\" __global__ __launch_bounds__(${threads})",
      .global_index = "(long)blockIdx.x * blockDim.x + threadIdx.x",
  };
}

Dialect cuda_dialect() {
  static const Spelling k_spelling = cuda_spelling(cuda_language());
  return &k_spelling;
}

}  // namespace kw

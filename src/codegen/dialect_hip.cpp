// HIP C++: CUDA C++ but for the names of a few types, what makes a pair of two floats, and its wavefronts.
#include "codegen/dialect.hpp"
#include "language/kernel_texts.hpp"
#include "language/rows.hpp"

namespace kw {
namespace {

constexpr Cuda16BitFloat k_hip_f16 = {"f16",          "hip/hip_fp16.h", "__half2",          "__half2float",
                                      "__float2half", "__half22float2", "__floats2half2_rn"};
constexpr Cuda16BitFloat k_hip_bf16 = {
    "bf16",           "hip/hip_bf16.h", "__hip_bfloat162", "__bfloat162float", "__float2bfloat16", "__bfloat1622float2",
    "__hip_bfloat162"};

Spelling hip_spelling() {
  Spelling hip = cuda_spelling(hip_language());
  hip.includes = "#include <hip/hip_runtime.h>\n";
  hip.bf16 = "__hip_bfloat16";
  hip.f16_functions = &k_hip_f16;
  hip.bf16_functions = &k_hip_bf16;
  hip.lanes = "warp_size";
  hip.lanes_are_fixed = false;
  hip.warp = {{"warp_definitions", "\n" + std::string(kernel_text("shared/helpers.cu", "sync_lanes_hip"))},
              {"shuffle_xor", "__shfl_xor"},
              {"shuffle_up", "__shfl_up"},
              {"mask", ""},
              {"sync_lanes", "sync_lanes()"},
              {"fast_exp2", fill_lines(kernel_text("shared/helpers.cu", "exp2_hip"))}};
  return hip;
}

}  // namespace

Dialect hip_dialect() {
  static const Spelling k_spelling = hip_spelling();
  return &k_spelling;
}

}  // namespace kw

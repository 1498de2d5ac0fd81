#include "codegen/dialect.hpp"

#include <gtest/gtest.h>

namespace kw {
namespace {

TEST(dialect, each_names_its_row) {
  EXPECT_EQ(target_of(opencl_dialect()), "opencl");
  EXPECT_EQ(target_of(cuda_dialect()), "cuda");
  EXPECT_EQ(target_of(hip_dialect()), "hip");
}

TEST(dialect, elements_are_loaded_and_stored_as_each_language_spells_it) {
  EXPECT_EQ(element_text(DType::f32, "Q", "(i + 1)"), "Q[i + 1]");
  EXPECT_EQ(element_text(DType::f16, "Q", "i"), "vload_half(i, Q)");
  EXPECT_EQ(element_text(DType::bf16, "Q", "i"), "as_float((uint)Q[i] << 16)");
  EXPECT_EQ(element_text(DType::bf16, "Q", "i", hip_dialect()), "__bfloat162float(Q[i])");
  EXPECT_EQ(store_text(DType::f32, "O", "i", "x"), "O[i] = x;");
  EXPECT_EQ(store_text(DType::f16, "O", "i", "x"), "vstore_half_rte(x, i, O);");
  EXPECT_EQ(store_text(DType::bf16, "O", "i", "x"), "O[i] = to_bf16(x);");
  EXPECT_EQ(store_text(DType::f16, "O", "i", "x", cuda_dialect()), "O[i] = __float2half(x);");
}

TEST(dialect, parameters_and_functions_are_spelt_as_each_language_wants) {
  EXPECT_EQ(buffer_parameter(DType::bf16, false, "K", opencl_dialect()), "__global const ushort* restrict K");
  EXPECT_EQ(buffer_parameter(DType::bf16, false, "K", cuda_dialect()), "const __nv_bfloat16* __restrict__ K");
  EXPECT_EQ(buffer_parameter(DType::bf16, true, "K", hip_dialect()), "__hip_bfloat16* __restrict__ K");
  EXPECT_EQ(real_function(ExprOp::exp2, opencl_dialect()), "exp2");
  EXPECT_EQ(real_function(ExprOp::exp2, cuda_dialect()), "exp2f");
  EXPECT_EQ(real_function(ExprOp::maximum, cuda_dialect()), "fmaxf");
  EXPECT_EQ(in_dialect("static inline int f(__global const int* x)", opencl_dialect()),
            "static inline int f(__global const int* x)");
  EXPECT_EQ(in_dialect("static inline int f(__global const int* x)", hip_dialect()),
            "__device__ __forceinline__ int f(const int* x)");
}

}  // namespace
}  // namespace kw

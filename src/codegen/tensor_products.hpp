#pragma once
// Device functions in CUDA C++ that several operators' kernels multiply with on tensor cores; kernels/shared/ has the
// text. Every function is named once per source: emit each text once.

#include <string>

#include "tensor/tensor.hpp"

namespace kw {

/// f32 as two numbers of tf32: `split()`.
[[nodiscard]] std::string tf32_split();
/// The same, and tf32_multiply_add().
[[nodiscard]] std::string tf32_products();
/// f32 as the nearest number of tf32: `rounded_bits()`, for sm_80 and later.
[[nodiscard]] std::string tf32_rounded();
/// `multiply_add()` of 16 x 8 by 8 x 8 numbers of tf32, for sm_80 and later.
[[nodiscard]] std::string tf32_multiply_add();

/// `cp_async_16()`, `cp_async_commit()` and `cp_async_wait()`, for sm_80 and later.
[[nodiscard]] std::string asynchronous_copies();
/// Descriptions of tensors to the copy engine, copies of boxes of these, and barriers at which boxes arrive.
[[nodiscard]] std::string tensor_copies();

/// What begins, ends and waits for products of a warpgroup, for sm_90a: before what the next two give.
[[nodiscard]] std::string wgmma_groups();
/// `multiply` for accumulators of 64 rows and `columns`, both operands in shared memory and summed over what is
/// contiguous. `columns` is a multiple of 8 up to 256; f16, bf16, or f32 for numbers of tf32.
[[nodiscard]] std::string wgmma_multiply(int columns, DType dtype);
/// What the next one describes its operands with: `describe_places()`.
[[nodiscard]] std::string wgmma_places();
/// `multiply_places`: numbers of tf32 in shared memory (f32), 16 bytes a place and without exchange, so that an operand
/// may begin at any place; for 64 rows and `columns`, 8 steps. Of f16 `multiply_half_places`, 16 steps.
[[nodiscard]] std::string wgmma_multiply_places(int columns, DType dtype);
/// `multiply_columns`: the left operand in registers, the right one summed over its rows; f16 or bf16.
[[nodiscard]] std::string wgmma_multiply_columns(int columns, DType dtype);
/// `multiply_by_columns`: as wgmma_multiply() but for the right operand, which is summed over its rows; f16 or bf16.
[[nodiscard]] std::string wgmma_multiply_by_columns(int columns, DType dtype);

}  // namespace kw

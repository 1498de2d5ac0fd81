#pragma once
// The text of the mma style's kernel, with holes for what depends on the problem. Kept apart from the code that fills
// it, so that it can be read as the CUDA C++ it is. What depends on the operands' type is one of two texts: f16 and
// bf16, or f32 as two tf32 numbers each.

namespace kw {

/// Holes are those of CudaAttention::fillings and of attention_cuda_mma.cpp.
extern const char* const k_attention_cuda_mma_source;

/// From the first panel of keys to the last; one panel after the other.
extern const char* const k_mma_loop;

/// Instructions, and the two products of a warp: scores = queries * keys, out = out * shrink + weights * values.
/// For 16 bits the holes are element, type, pair and pair_from_floats, as in Cuda16BitFloat.
extern const char* const k_mma_products_16_bit;
extern const char* const k_mma_products_f32;

}  // namespace kw

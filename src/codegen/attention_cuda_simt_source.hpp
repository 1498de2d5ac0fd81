#pragma once
// The text of the simt style's kernel, with holes for what depends on the problem. Kept apart from the code that fills
// it, so that it can be read as the CUDA C++, or HIP C++, it is.

namespace kw {

/// Holes are those of CudaAttention::fillings and of attention_cuda_simt.cpp.
extern const char* const k_attention_cuda_simt_source;

}  // namespace kw

#pragma once
// The text of the vector style's kernels, with holes for what depends on the problem. Kept apart from the code that
// fills it, so that it can be read as the OpenCL C it is.

namespace kw {

/// Holes are named in attention_opencl_vector.cpp, which fills them.
extern const char* const k_attention_vector_source;

}  // namespace kw

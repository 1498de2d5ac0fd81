#pragma once
// The text of the vector style's kernels, with holes for what depends on the problem. Kept apart from the code that
// fills it, so that it can be read as the OpenCL C it is.

namespace kw {

/// Holes are named in attention_opencl_vector.cpp, which fills them.
extern const char* const k_attention_vector_source;

/// Element d of sixteen keys, for pack.
extern const char* const k_key_column_f32;
extern const char* const k_key_column_16_bit;  ///< of the type `element`, read as `key`

/// The output's elements from a row of float16s, times a factor.
extern const char* const k_store_row_f32;
extern const char* const k_store_row_f16;
extern const char* const k_store_row_bf16;

/// What a tile does with the keys of a block, before and after its softmax: all of them, or the panels that a block map
/// names.
extern const char* const k_scores_of_all_keys;
extern const char* const k_values_of_all_keys;
extern const char* const k_scores_of_mapped_keys;
extern const char* const k_values_of_mapped_keys;
/// The kernel that writes the block map.
extern const char* const k_classify_source;

}  // namespace kw

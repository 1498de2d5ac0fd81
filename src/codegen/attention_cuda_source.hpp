#pragma once
// Text that the fused CUDA and HIP styles share, with holes for what depends on the problem and the language. Each
// style places it around its own tiles: it defines THREADS, BM and BN (rows and keys of a block's tile), THREAD_ROWS
// and THREAD_KEYS (a thread's share of the tile), ROW_STEP (between a thread's rows), ROW_LANES (neighbouring lanes
// that share rows) and SCORE(r, c), an element of a thread's `scores`.

namespace kw {

/// Comment, includes and constants.
extern const char* const k_cuda_preamble;
/// finish_scores and weigh: from dot products to scores, and from scores to weights.
extern const char* const k_cuda_softmax;
/// In the kernel: who the block is.
extern const char* const k_cuda_indices;
/// The same where the heads that share a key head are packed into one tile of rows.
extern const char* const k_cuda_packed_indices;
/// In the kernel: which keys its rows may attend to, for masks that are intervals of keys.
extern const char* const k_cuda_bounds;
/// The kernel that writes the block map, and needed_panel which reads it.
extern const char* const k_cuda_classify;

}  // namespace kw

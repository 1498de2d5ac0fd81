#include "codegen/attention_cuda_source.hpp"

namespace kw {

const char* const k_cuda_preamble = R"(${comment}

${includes}
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fffffff)
#endif
)";

const char* const k_cuda_softmax = R"(#define LOG2_E 1.44269504f
${warp_definitions}

${helpers}
${bound_functions}
${dropped_term}
// 2^x within two units of the last place; exactly 0 for -inf, so that masked scores weigh nothing.
__device__ __forceinline__ float power_of_two(const float x) {
${fast_exp2}
}

// Makes a thread's dot products into scores, and finds the largest of each of its rows. `masked` is a
// literal at every call, so each call is compiled for its case. Rows and keys past the last are the last to the mod.
${finish_signature}
  #pragma unroll
  for (int r = 0; r < THREAD_ROWS; ++r) {
    ${query_index}
    ${row_range}
    ${row_statements}
    highest[r] = -INFINITY;
    #pragma unroll
    for (int c = 0; c < THREAD_KEYS; ++c) {
      const int key = thread_key + ${key_offset};
      ${key_index}
      const float dot_product = SCORE(r, c);
      ${element_statements}
      if (masked && !(${allowed})) s = -INFINITY;
      SCORE(r, c) = s;
      highest[r] = fmaxf(highest[r], s);
    }
  }
}

// Scores to weights 2^(score * unit - peak). `total` gathers the thread's weights, and `shrink` is what everything
// summed with the last peak must be multiplied by.
__device__ __forceinline__ void weigh(${scores}, const float (&highest)[THREAD_ROWS],
                                      const float unit, float (&peak)[THREAD_ROWS], float (&total)[THREAD_ROWS],
                                      float (&shrink)[THREAD_ROWS]) {
  #pragma unroll
  for (int r = 0; r < THREAD_ROWS; ++r) {
    float next = highest[r] * unit;
    #pragma unroll
    for (int step = ROW_LANES / 2; step > 0; step /= 2) next = fmaxf(next, ${shuffle_xor}(${mask}next, step));
    next = fmaxf(next, peak[r]);
    // While every key so far is masked the peak is -inf, and -inf - -inf would be NaN.
    const float base = next == -INFINITY ? 0.0f : next;
    shrink[r] = power_of_two(peak[r] - base);
    peak[r] = next;
    float sum = 0.0f;
    #pragma unroll
    for (int c = 0; c < THREAD_KEYS; ++c) {
      SCORE(r, c) = power_of_two(fmaf(SCORE(r, c), unit, -base));
      sum += SCORE(r, c);
    }
    total[r] = total[r] * shrink[r] + sum;
  }
}

// A row's weights, gathered over the lanes that share it.
__device__ __forceinline__ float over_lanes(float sum) {
  #pragma unroll
  for (int step = ROW_LANES / 2; step > 0; step /= 2) sum += ${shuffle_xor}(${mask}sum, step);
  return sum;
}
)";

const char* const k_cuda_indices = R"(const int h = blockIdx.y, b = blockIdx.z;
const long query_head = (long)b * Hq + h;
const long key_head = (long)b * Hkv + h / (Hq / Hkv);
const int first_row = ${row_tile} * BM;
${part}
${group_statements})";

const char* const k_cuda_packed_indices = R"(const int b = blockIdx.z, first_head = blockIdx.y * (Hq / Hkv);
const int group_rows = Sq * (Hq / Hkv);
const long query_head = (long)b * Hq + first_head;
const long key_head = (long)b * Hkv + blockIdx.y;
const int first_row = ${row_tile} * BM;
${part}
${group_statements})";

const char* const k_cuda_bounds =
    R"(// Keys each row may attend to, the panels that any row needs, and the keys that every row may attend to.
__shared__ int tile_first[BM], tile_last[BM], any_keys[2], every_keys[2];
if (threadIdx.x == 0) {
  any_keys[0] = Skv;
  any_keys[1] = -1;
  every_keys[0] = 0;
  every_keys[1] = Skv - 1;
}
__syncthreads();
for (int i = threadIdx.x; i < BM; i += THREADS) {
  ${query_index}
  const int first = ${first_allowed};
  const int last = ${last_allowed};
  tile_first[i] = first;
  tile_last[i] = last;
  atomicMax(every_keys, first);
  atomicMin(every_keys + 1, last);
  if (first > last) continue;
  atomicMin(any_keys, first);
  atomicMax(any_keys + 1, last);
}
__syncthreads();
const int every_first = every_keys[0], every_last = every_keys[1];
const int first_panel = any_keys[0] / BN, end_panel = (any_keys[1] + BN) / BN;
int row_first[THREAD_ROWS], row_last[THREAD_ROWS];
#pragma unroll
for (int r = 0; r < THREAD_ROWS; ++r) {
  row_first[r] = tile_first[thread_row + r * ROW_STEP];
  row_last[r] = tile_last[thread_row + r * ROW_STEP];
})";

const char* const k_cuda_classify = R"(${map_comment}
#define NO_KEY 0
#define SOME_KEYS 1
#define EVERY_KEY 2

extern "C" __global__ __launch_bounds__(THREADS)
${signature} {
  ${indices}
  // A block for every panel of a tile: where there are few tiles, there are many panels.
  const int panels = (Skv + BN - 1) / BN;
  const int first_key = (int)blockIdx.x % panels * BN;
  ${first_row}
  const long entry = ((long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  ${group_statements}
  int some = 0, every = 1;
  for (int i = threadIdx.x; i < ${scores_of_tile}; i += THREADS) {
    const int key = first_key + i % BN;
    const int kv_idx = min(key, Skv - 1);
    ${query_index}
    ${row_statements}
    ${element_statements}
    const int allowed = ${allowed} && key < Skv;
    some |= allowed;
    every &= allowed;
  }
  some = __syncthreads_or(some);
  every = __syncthreads_and(every);
  if (threadIdx.x == 0) block_map[entry] = every ? EVERY_KEY : some ? SOME_KEYS : NO_KEY;
}

// The first panel from `panel` on of which some row needs a key.
__device__ __forceinline__ int needed_panel(const int* codes, int panel, const int end_panel) {
  while (panel < end_panel && codes[panel] == NO_KEY) ++panel;
  return panel;
}
)";

}  // namespace kw

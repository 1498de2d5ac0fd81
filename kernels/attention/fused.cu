// Text that the fused CUDA and HIP styles share; operators/attention/kernels/cuda/text.cpp fills the holes. Each style
// places it around its own tiles: it defines THREADS, BM and BN (rows and keys of a block's tile), THREAD_ROWS and
// THREAD_KEYS (a thread's share of the tile), ROW_STEP (between a thread's rows), ROW_LANES (neighbouring lanes that
// share rows) and SCORE(r, c), an element of a thread's `scores`.
//
// axes: Sq Skv Hq Hkv
// definitions: HEAD_DIM VALUE_DIM BLOCKS_PER_UNIT

// --- section: preamble
${comment}

${includes}
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fffffff)
#endif

// --- section: softmax
#define LOG2_E 1.44269504f
${warp_definitions}

${helpers}
${bound_functions}
${dropped_term}
// 2^x within two units of the last place; exactly 0 for -inf, so that masked scores count for nothing.
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

// Scores to probabilities ${probability}, not yet divided by their sum. `total` gathers the thread's share of
// it, and `shrink` is what everything summed with the last peak must be multiplied by.
__device__ __forceinline__ void online_softmax(${scores},
                                               const float (&highest)[THREAD_ROWS], const float unit,
                                               float (&peak)[THREAD_ROWS], float (&total)[THREAD_ROWS],
                                               float (&shrink)[THREAD_ROWS]) {
  #pragma unroll
  for (int r = 0; r < THREAD_ROWS; ++r) {
    float next = highest[r] * unit;
    #pragma unroll
    for (int step = ROW_LANES / 2; step > 0; step /= 2) next = fmaxf(next, ${shuffle_xor}(${mask}next, step));
    next = fmaxf(next, peak[r]);
    // While every key so far is masked the peak is -inf, and -inf - -inf would be NaN.
    const float base = next == -INFINITY ? 0.0f : next;
    shrink[r] = power_of_two(${shrink_exponent});
    peak[r] = next;
    float sum = 0.0f;
    #pragma unroll
    for (int c = 0; c < THREAD_KEYS; ++c) {
      SCORE(r, c) = power_of_two(${exponent});
      sum += SCORE(r, c);
    }
    total[r] = total[r] * shrink[r] + sum;
  }
}

// A row's probabilities, gathered over the lanes that share it.
__device__ __forceinline__ float over_lanes(float sum) {
  #pragma unroll
  for (int step = ROW_LANES / 2; step > 0; step /= 2) sum += ${shuffle_xor}(${mask}sum, step);
  return sum;
}

// --- section: indices
const int h = blockIdx.y, b = blockIdx.z;
const long query_head = (long)b * Hq + h;
const long key_head = (long)b * Hkv + h / (Hq / Hkv);
const int first_row = ${row_tile} * BM;
${part}
${group_statements}

// --- section: packed_indices
const int b = blockIdx.z, first_head = blockIdx.y * (Hq / Hkv);
const int group_rows = Sq * (Hq / Hkv);
const long query_head = (long)b * Hq + first_head;
const long key_head = (long)b * Hkv + blockIdx.y;
const int first_row = ${row_tile} * BM;
${part}
${group_statements}

// --- section: bounds
// Keys each row may attend to, the panels that any row needs, and the keys that every row may attend to.
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
}

// --- section: classify
${map_comment}
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
  ${unroll}
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
  if (threadIdx.x == 0) block_mask[entry] = every ? EVERY_KEY : some ? SOME_KEYS : NO_KEY;
}

// The first panel from `panel` on of which some row needs a key.
__device__ __forceinline__ int needed_panel(const int* codes, int panel, const int end_panel) {
  while (panel < end_panel && codes[panel] == NO_KEY) ++panel;
  return panel;
}

// --- section: row_limits
// What a term of the score must be above for its key to count, for each row: some way below the largest of the row.
// Floats beyond 2^24 are too coarse to say that; there only -infinity is sure to lose. A block for every row.
extern "C" __global__ __launch_bounds__(THREADS)
${signature} {
  ${indices}
  ${query_index}
  ${group_statements}
  ${row_statements}
  float top = -INFINITY;
  for (int key = threadIdx.x; key < Skv; key += THREADS) {
    const int kv_idx = key;
    ${element_statements}
    top = fmaxf(top, ${term});
  }
  __shared__ float tops[THREADS];
  tops[threadIdx.x] = top;
  __syncthreads();
  for (int step = 1; step < THREADS; step *= 2) {
    if (threadIdx.x % (2 * step) == 0 && threadIdx.x + step < THREADS)
      tops[threadIdx.x] = fmaxf(tops[threadIdx.x], tops[threadIdx.x + step]);
    __syncthreads();
  }
  if (threadIdx.x != 0) return;
  const float lost_below = fabsf(tops[0]) <= ${most} ? tops[0] - ${distance} : -INFINITY;
  row_limits[((long)blockIdx.z * gridDim.y + blockIdx.y) * ${rows} + ${row}] = lost_below;
}

// --- section: part
// This block's part of the panels.
const int share = (${panels} + parts - 1) / parts;
const int part_first = ${first_panel}part * share, part_end = min(end_panel, part_first + share);

// --- section: finish
if (${condition})
  ${masked}
else
  ${plain}

// --- section: store_lse
// Peak and total are in ${units}.
${anchor}
if (thread_key == 0)
  LSE[query_head * Sq + row] = sum > 0.0f
      ? ${log_of_sum}
      ${dropped}
      : -INFINITY;

// --- section: store_lse_of_part
// --- What was left out of the scores; merge.cu adds the rest.
${anchor}
if (part == 0 && thread_key == 0) LSE[query_head * Sq + row] = ${dropped};

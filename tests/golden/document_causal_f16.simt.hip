/*kernelwright
format      = 1
target      = "hip"
problem     = "attention/document_causal_f16"
generator   = "simt 2"
constraints = ["LANES * TEAMS >= 64", "LANES * TEAMS <= 512",
               "4 * ((TEAMS * ROWS) * ((4 * (ceil_div(64, 4) + (ceil_div(64, 4) % 2 == 0))) + (LANES * COLUMNS) + 4) + (LANES * COLUMNS) * ((4 * (ceil_div(64, 4) + (ceil_div(64, 4) % 2 == 0))) + round_up(64, 4 * LANES))) + 8 * (TEAMS * ROWS) + 16 <= shared_bytes_per_block",
               "ROWS * round_up(64, 4 * LANES) / LANES + ROWS * COLUMNS + max(4 * COLUMNS + 4, 4 * ROWS + 16) + 3 * ROWS + 40 <= min(256, max_registers_per_thread, registers_per_block / (LANES * TEAMS))"]

[tunables]
LANES     = {values = [8, 16, 32], default = 8}
TEAMS     = {values = [4, 8, 16, 32], default = 32}
ROWS      = {values = [1, 2, 4, 8], default = 2}
COLUMNS   = {values = [1, 2, 4], default = 4}
UNROLL_D  = {values = [1, 2, 4, 8], default = 4}
UNROLL_KV = {values = [1, 2, 4], default = 2}

[defines]
HEAD_DIM     = "D"
VALUE_DIM    = "Dv"
THREAD_ROWS  = "ROWS"
THREAD_KEYS  = "COLUMNS"
HEAD_STRIDE  = "(4 * (ceil_div(D, 4) + (ceil_div(D, 4) % 2 == 0)))"
VALUE_STRIDE = "round_up(Dv, 4 * LANES)"

[[launch]]
kernel       = "attention"
grid         = ["ceil_div(Sq, (TEAMS * ROWS))", "Hq", "B"]
block        = ["LANES * TEAMS", "1", "1"]
shared_bytes = "4 * ((TEAMS * ROWS) * ((4 * (ceil_div(D, 4) + (ceil_div(D, 4) % 2 == 0))) + (LANES * COLUMNS) + 4) + (LANES * COLUMNS) * ((4 * (ceil_div(D, 4) + (ceil_div(D, 4) % 2 == 0))) + round_up(Dv, 4 * LANES)))"
args         = ["Q", "K", "V", "document_id", "O", "Sq", "Skv", "Hq", "Hkv"]
*/
// attention/document_causal_f16: Causal attention within packed documents, stored in f16.
// Written by kernelwright, generator "simt 2".
//
// mask_mod:
// def document_causal(b, h, q_idx, kv_idx):
//     same_document = document_id[q_idx] == document_id[kv_idx]
//     q_logical = q_idx - offsets[document_id[q_idx]]
//     kv_logical = kv_idx - offsets[document_id[kv_idx]]
//     return same_document & (q_logical >= kv_logical)
//
// How: a block takes TEAMS * ROWS queries through the keys in panels of LANES * COLUMNS, with K, V, Q and
// the probabilities in shared memory and f32 register tiles of ROWS x COLUMNS scores per thread.
// The mask allows an interval of keys per row: blocks outside it are never touched, and only
// the interval's ends are masked.

#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>

#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fffffff)
#endif
#define THREADS (LANES * TEAMS)
#define BM (TEAMS * THREAD_ROWS)
#define BN (LANES * THREAD_KEYS)
#define ROW_STEP TEAMS
#define ROW_LANES LANES
#define SCORE(r, c) scores[r][c]
#define HEAD_VECTORS ((HEAD_DIM + 3) / 4)
// float4s of the output that a lane holds of each of its rows.
#define VALUE_TILE (VALUE_STRIDE / (4 * LANES))
// Four more than the keys: rows that neighbouring teams read at once begin in different banks.
#define PROBABILITY_STRIDE (BN + 4)
// Pragmas take constants, and definitions are not replaced in them.
constexpr int unroll_head = UNROLL_D, unroll_keys = UNROLL_KV;

#define LOG2_E 1.44269504f

// Lanes of a wavefront run in step: only the compiler has to be kept from moving what they do to shared memory.
__device__ __forceinline__ void sync_lanes() {
#ifdef KW_SIM
  __syncwarp();
#else
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
  __builtin_amdgcn_wave_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
#endif
}


// How many elements of a sorted row are less than a value.
__device__ __forceinline__ int lower_bound_i32(const int* row, const int extent, const int value) {
  int low = 0, high = extent;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (row[middle] < value)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}
// How many elements of a sorted row are at most a value.
__device__ __forceinline__ int upper_bound_i32(const int* row, const int extent, const int value) {
  int low = 0, high = extent;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (row[middle] <= value)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

// The mask allows exactly the keys from first_allowed to last_allowed; none if first is after last.
__device__ __forceinline__ int first_allowed(const int b, const int h, const int q_idx,
                                             const int* __restrict__ document_id, const int Skv) {
  const int t1 = lower_bound_i32(document_id, Skv, document_id[min(q_idx, Skv - 1)]);
  return max(t1, 0);
}
__device__ __forceinline__ int last_allowed(const int b, const int h, const int q_idx,
                                            const int* __restrict__ document_id, const int Skv) {
  const int t1 = upper_bound_i32(document_id, Skv, document_id[min(q_idx, Skv - 1)]);
  return min(q_idx, min(t1 - 1, Skv - 1));
}

// 2^x within two units of the last place; exactly 0 for -inf, so that masked scores count for nothing.
__device__ __forceinline__ float power_of_two(const float x) {
#if defined(KW_SIM) || !__has_builtin(__builtin_amdgcn_exp2f)
  return exp2f(x);
#else
  return __builtin_amdgcn_exp2f(x);
#endif
}

// Makes a thread's dot products into scores, and finds the largest of each of its rows. `masked` is a
// literal at every call, so each call is compiled for its case. Rows and keys past the last are the last to the mod.
__device__ __forceinline__ void finish_scores(float (&scores)[THREAD_ROWS][THREAD_KEYS],
                                              float (&highest)[THREAD_ROWS], const bool masked,
                                              const int thread_query, const int thread_key,
                                              const int (&row_first)[THREAD_ROWS],
                                              const int (&row_last)[THREAD_ROWS], const int Sq, const int Skv,
                                              const float scale) {
  #pragma unroll
  for (int r = 0; r < THREAD_ROWS; ++r) {
    const int allowed_first = row_first[r];
    const int allowed_last = row_last[r];
    highest[r] = -INFINITY;
    #pragma unroll
    for (int c = 0; c < THREAD_KEYS; ++c) {
      const int key = thread_key + c * LANES;
      const float dot_product = SCORE(r, c);
      float s = dot_product;
      if (masked && !(key >= allowed_first && key <= allowed_last)) s = -INFINITY;
      SCORE(r, c) = s;
      highest[r] = fmaxf(highest[r], s);
    }
  }
}

// Scores to probabilities 2^(score * unit - peak), not yet divided by their sum. `total` gathers the thread's share of
// it, and `shrink` is what everything summed with the last peak must be multiplied by.
__device__ __forceinline__ void online_softmax(float (&scores)[THREAD_ROWS][THREAD_KEYS],
                                               const float (&highest)[THREAD_ROWS], const float unit,
                                               float (&peak)[THREAD_ROWS], float (&total)[THREAD_ROWS],
                                               float (&shrink)[THREAD_ROWS]) {
  #pragma unroll
  for (int r = 0; r < THREAD_ROWS; ++r) {
    float next = highest[r] * unit;
    #pragma unroll
    for (int step = ROW_LANES / 2; step > 0; step /= 2) next = fmaxf(next, __shfl_xor(next, step));
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

// A row's probabilities, gathered over the lanes that share it.
__device__ __forceinline__ float over_lanes(float sum) {
  #pragma unroll
  for (int step = ROW_LANES / 2; step > 0; step /= 2) sum += __shfl_xor(sum, step);
  return sum;
}
// Elements d to d + 3 of a row in f32; zeros behind the row's end.
template <int DIM>
__device__ __forceinline__ float4 load_four(const __half* row, const int d) {
  if (DIM % 4 == 0 && d < DIM) {
    const float2 low = __half22float2(*(const __half2*)(row + d));
    const float2 high = __half22float2(*(const __half2*)(row + d + 2));
    return make_float4(low.x, low.y, high.x, high.y);
  }
  float4 four;
  four.x = d < DIM ? __half2float(row[d]) : 0.0f;
  four.y = d + 1 < DIM ? __half2float(row[d + 1]) : 0.0f;
  four.z = d + 2 < DIM ? __half2float(row[d + 2]) : 0.0f;
  four.w = d + 3 < DIM ? __half2float(row[d + 3]) : 0.0f;
  return four;
}

// `rows` rows into shared memory in f32, `STRIDE` apart, with zeros behind each row and behind the last.
template <int DIM, int STRIDE>
__device__ __forceinline__ void load_rows(const __half* from, float* to, const int rows, const int rows_left) {
  for (int i = threadIdx.x; i < rows * (STRIDE / 4); i += THREADS) {
    const int row = i / (STRIDE / 4), d = i % (STRIDE / 4) * 4;
    float4 four = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (row < rows_left) four = load_four<DIM>(from + (long)row * DIM, d);
    *(float4*)(to + row * STRIDE + d) = four;
  }
}

__device__ __forceinline__ float dot_four(const float4 a, const float4 b, float sum) {
  sum = fmaf(a.x, b.x, sum);
  sum = fmaf(a.y, b.y, sum);
  sum = fmaf(a.z, b.z, sum);
  return fmaf(a.w, b.w, sum);
}

__device__ __forceinline__ void add_scaled(const float factor, const float4 from, float4& to) {
  to.x = fmaf(factor, from.x, to.x);
  to.y = fmaf(factor, from.y, to.y);
  to.z = fmaf(factor, from.z, to.z);
  to.w = fmaf(factor, from.w, to.w);
}

// Of a thread's rows of Q, TEAMS apart, with its rows of K, LANES apart.
__device__ __forceinline__ void dot_products(const float* query, const float* key,
                                             float (&scores)[THREAD_ROWS][THREAD_KEYS]) {
  #pragma unroll
  for (int r = 0; r < THREAD_ROWS; ++r)
    #pragma unroll
    for (int c = 0; c < THREAD_KEYS; ++c) scores[r][c] = 0.0f;
  #pragma unroll unroll_head
  for (int d = 0; d < 4 * HEAD_VECTORS; d += 4) {
    float4 of_key[THREAD_KEYS];
    #pragma unroll
    for (int c = 0; c < THREAD_KEYS; ++c) of_key[c] = *(const float4*)(key + c * LANES * HEAD_STRIDE + d);
    #pragma unroll
    for (int r = 0; r < THREAD_ROWS; ++r) {
      const float4 of_query = *(const float4*)(query + r * TEAMS * HEAD_STRIDE + d);
      #pragma unroll
      for (int c = 0; c < THREAD_KEYS; ++c) scores[r][c] = dot_four(of_query, of_key[c], scores[r][c]);
    }
  }
}

// out += probabilities * values, over the tile's keys.
__device__ __forceinline__ void add_values(const float* probabilities, const float* value,
                                           float4 (&out)[THREAD_ROWS][VALUE_TILE]) {
  #pragma unroll unroll_keys
  for (int k = 0; k < BN; k += 4) {
    float4 probability[THREAD_ROWS];
    #pragma unroll
    for (int r = 0; r < THREAD_ROWS; ++r)
      probability[r] = *(const float4*)(probabilities + r * TEAMS * PROBABILITY_STRIDE + k);
    #pragma unroll
    for (int j = 0; j < VALUE_TILE; ++j) {
      const float* column = value + k * VALUE_STRIDE + j * 4 * LANES;
      const float4 first = *(const float4*)column;
      const float4 second = *(const float4*)(column + VALUE_STRIDE);
      const float4 third = *(const float4*)(column + 2 * VALUE_STRIDE);
      const float4 fourth = *(const float4*)(column + 3 * VALUE_STRIDE);
      #pragma unroll
      for (int r = 0; r < THREAD_ROWS; ++r) {
        add_scaled(probability[r].x, first, out[r][j]);
        add_scaled(probability[r].y, second, out[r][j]);
        add_scaled(probability[r].z, third, out[r][j]);
        add_scaled(probability[r].w, fourth, out[r][j]);
      }
    }
  }
}

// Elements d to d + 3 of a row of the output, those of them that there are.
__device__ __forceinline__ void store_four(__half* row, const int d, const float4 four) {
  if (VALUE_DIM % 4 == 0 && d < VALUE_DIM) {
    *(__half2*)(row + d) = __floats2half2_rn(four.x, four.y);
    *(__half2*)(row + d + 2) = __floats2half2_rn(four.z, four.w);
    return;
  }
  if (d < VALUE_DIM) row[d] = __float2half(four.x);
  if (d + 1 < VALUE_DIM) row[d + 1] = __float2half(four.y);
  if (d + 2 < VALUE_DIM) row[d + 2] = __float2half(four.z);
  if (d + 3 < VALUE_DIM) row[d + 3] = __float2half(four.w);
}

// A tile of BM queries of one head per block: TEAMS teams of LANES neighbouring lanes, each with THREAD_ROWS rows.
// Softmax is online: peak and total hold each row's largest score so far and a thread's share of the sum of its
// probabilities.
extern "C" __global__ __launch_bounds__(THREADS, 1)
void attention(const __half* __restrict__ Q, const __half* __restrict__ K, const __half* __restrict__ V,
               const int* __restrict__ document_id, __half* __restrict__ O, const int Sq, const int Skv, const int Hq,
               const int Hkv) {
  extern __shared__ __align__(16) float tiles[];
  float* queries = tiles;
  float* keys = queries + BM * HEAD_STRIDE;
  float* values = keys + BN * HEAD_STRIDE;
  float* probabilities = values + BN * VALUE_STRIDE;
  const int lane = (int)threadIdx.x % LANES, thread_row = (int)threadIdx.x / LANES, thread_key = lane;
  const int h = blockIdx.y, b = blockIdx.z;
  const long query_head = (long)b * Hq + h;
  const long key_head = (long)b * Hkv + h / (Hq / Hkv);
  const int first_row = (int)(gridDim.x - 1 - blockIdx.x) * BM;
  const float scale = LOG2_E * (1.0f / sqrt((float)HEAD_DIM));
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
    const int q_idx = min(first_row + i, Sq - 1);
    const int first = first_allowed(b, h, q_idx, document_id, Skv);
    const int last = last_allowed(b, h, q_idx, document_id, Skv);
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

  load_rows<HEAD_DIM, HEAD_STRIDE>(Q + (query_head * Sq + first_row) * HEAD_DIM, queries, BM, Sq - first_row);
  float4 out[THREAD_ROWS][VALUE_TILE];
  float peak[THREAD_ROWS], total[THREAD_ROWS];
  #pragma unroll
  for (int r = 0; r < THREAD_ROWS; ++r) {
    peak[r] = -INFINITY;
    total[r] = 0.0f;
    #pragma unroll
    for (int j = 0; j < VALUE_TILE; ++j) out[r][j] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  }
  #pragma unroll 1
  for (int panel = first_panel; panel < end_panel;
       panel = panel + 1) {
    const int first_key = panel * BN;
    __syncthreads();  // the last panel's values are used up
    load_rows<HEAD_DIM, HEAD_STRIDE>(K + (key_head * Skv + first_key) * HEAD_DIM, keys, BN, Skv - first_key);
    load_rows<VALUE_DIM, VALUE_STRIDE>(V + (key_head * Skv + first_key) * VALUE_DIM, values, BN, Skv - first_key);
    __syncthreads();

    float scores[THREAD_ROWS][THREAD_KEYS], highest[THREAD_ROWS], shrink[THREAD_ROWS];
    dot_products(queries + thread_row * HEAD_STRIDE, keys + lane * HEAD_STRIDE, scores);
    if (first_key < every_first || first_key + BN - 1 > every_last)
      finish_scores(scores, highest, true, first_row + thread_row, first_key + thread_key, row_first,
                    row_last, Sq, Skv, scale);
    else
      finish_scores(scores, highest, false, first_row + thread_row, first_key + thread_key, row_first,
                    row_last, Sq, Skv, scale);
    online_softmax(scores, highest, scale, peak, total, shrink);
    float* row_probabilities = probabilities + thread_row * PROBABILITY_STRIDE;
    #pragma unroll
    for (int r = 0; r < THREAD_ROWS; ++r) {
      #pragma unroll
      for (int j = 0; j < VALUE_TILE; ++j) {
        out[r][j].x *= shrink[r];
        out[r][j].y *= shrink[r];
        out[r][j].z *= shrink[r];
        out[r][j].w *= shrink[r];
      }
      #pragma unroll
      for (int c = 0; c < THREAD_KEYS; ++c)
        row_probabilities[r * TEAMS * PROBABILITY_STRIDE + c * LANES + lane] = scores[r][c];
    }
    sync_lanes();  // a row's probabilities are written and read by one team, which lies in one warp
    add_values(row_probabilities, values + 4 * lane, out);
  }

  #pragma unroll
  for (int r = 0; r < THREAD_ROWS; ++r) {
    const int row = first_row + thread_row + r * TEAMS;
    const float sum = over_lanes(total[r]);
    // A row whose keys were all masked has no probabilities, and its output is zero.
    const float factor = sum > 0.0f ? 1.0f / sum : 0.0f;
    if (row >= Sq) continue;
    __half* to = O + (query_head * Sq + row) * VALUE_DIM;
    #pragma unroll
    for (int j = 0; j < VALUE_TILE; ++j) {
      const float4 four = out[r][j];
      store_four(to, 4 * (lane + j * LANES),
                 make_float4(four.x * factor, four.y * factor, four.z * factor, four.w * factor));
    }
  }
}

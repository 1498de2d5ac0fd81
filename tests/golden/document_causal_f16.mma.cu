/*kernelwright
format      = 1
target      = "cuda"
problem     = "attention/document_causal_f16"
generator   = "mma 3"
constraints = ["2 * ((16 * WARPS) * (round_up(64, 16) + 8 * (round_up(64, 16) % 64 != 0)) + STAGES * BLOCK_N * ((round_up(64, 16) + 8 * (round_up(64, 16) % 64 != 0)) + (round_up(64, 16) + 8 * (round_up(64, 16) % 64 != 0)))) + 8 * (16 * WARPS) + 16 <= shared_bytes_per_block",
               "round_up(64, 16) / 2 + BLOCK_N * 3 / 4 + 4 * max(1, Q_REGISTERS * (64 <= 128) * ceil_div(64, 16)) + 50 <= min(max_registers_per_thread, registers_per_block / (32 * WARPS))"]

[tunables]
WARPS       = {values = [1, 2, 4, 8], default = 4}
BLOCK_N     = {values = [16, 32, 64, 128], default = 32}
STAGES      = {values = [2, 3, 4], default = 4}
Q_REGISTERS = {values = [1, 0], default = 1}

[defines]
HEAD_DIM     = "D"
VALUE_DIM    = "Dv"
BLOCK_WARPS  = "WARPS"
PANEL_KEYS   = "BLOCK_N"
HEAD_PAD     = "round_up(D, 16)"
HEAD_STRIDE  = "(round_up(D, 16) + 8 * (round_up(D, 16) % 64 != 0))"
VALUE_PAD    = "round_up(Dv, 16)"
VALUE_STRIDE = "(round_up(Dv, 16) + 8 * (round_up(Dv, 16) % 64 != 0))"
QUERY_TILES  = "max(1, Q_REGISTERS * (D <= 128) * ceil_div(D, 16))"

[[launch]]
kernel       = "attention"
grid         = ["ceil_div(Sq, (16 * WARPS))", "Hq", "B"]
block        = ["32 * WARPS", "1", "1"]
shared_bytes = "2 * ((16 * WARPS) * (round_up(D, 16) + 8 * (round_up(D, 16) % 64 != 0)) + STAGES * BLOCK_N * ((round_up(D, 16) + 8 * (round_up(D, 16) % 64 != 0)) + (round_up(Dv, 16) + 8 * (round_up(Dv, 16) % 64 != 0))))"
args         = ["Q", "K", "V", "document_id", "O", "Sq", "Skv", "Hq", "Hkv"]
*/
// attention/document_causal_f16: Causal attention within packed documents, stored in f16.
// Written by kernelwright, generator "mma 3".
//
// mask_mod:
// def document_causal(b, h, q_idx, kv_idx):
//     same_document = document_id[q_idx] == document_id[kv_idx]
//     q_logical = q_idx - offsets[document_id[q_idx]]
//     kv_logical = kv_idx - offsets[document_id[kv_idx]]
//     return same_document & (q_logical >= kv_logical)
//
// How: a warp takes 16 queries through the keys in panels of BN, with mma.sync; scores and probabilities stay in
// registers, and keys and values are copied STAGES - 1 panels ahead of their use.
// The mask allows an interval of keys per row: blocks outside it are never touched, and only
// the interval's ends are masked.

#include <cuda_fp16.h>

#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fffffff)
#endif
#define THREADS (32 * BLOCK_WARPS)
#define BM (16 * BLOCK_WARPS)
#define BN PANEL_KEYS
#define THREAD_ROWS 2
#define THREAD_KEYS (BN / 4)
#define ROW_STEP 8
#define ROW_LANES 4
// Accumulators of an instruction: rows of 8 lanes' groups of four, and 8 below; keys two by two.
#define SCORE(r, c) scores[(c) / 2][2 * (r) + (c) % 2]
#define SCORE_TILES (BN / 8)
#define VALUE_TILES (VALUE_PAD / 8)
// Elements of 16 bytes, which is what one lane copies at a time.
#define CHUNK (16 / (int)sizeof(__half))

#define LOG2_E 1.44269504f
#define ALL_LANES 0xffffffffu

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
#ifdef KW_SIM
  return exp2f(x);
#else
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#endif
}

// Makes a thread's dot products into scores, and finds the largest of each of its rows. `masked` is a
// literal at every call, so each call is compiled for its case. Rows and keys past the last are the last to the mod.
__device__ __forceinline__ void finish_scores(float (&scores)[SCORE_TILES][4], float (&highest)[THREAD_ROWS],
                                              const bool masked, const int thread_query, const int thread_key,
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
      const int key = thread_key + c / 2 * 8 + c % 2;
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
__device__ __forceinline__ void online_softmax(float (&scores)[SCORE_TILES][4],
                                               const float (&highest)[THREAD_ROWS], const float unit,
                                               float (&peak)[THREAD_ROWS], float (&total)[THREAD_ROWS],
                                               float (&shrink)[THREAD_ROWS]) {
  #pragma unroll
  for (int r = 0; r < THREAD_ROWS; ++r) {
    float next = highest[r] * unit;
    #pragma unroll
    for (int step = ROW_LANES / 2; step > 0; step /= 2) next = fmaxf(next, __shfl_xor_sync(ALL_LANES, next, step));
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
  for (int step = ROW_LANES / 2; step > 0; step /= 2) sum += __shfl_xor_sync(ALL_LANES, sum, step);
  return sum;
}
// 16 bytes from global to shared memory behind the kernel's back; zeros instead of what lies past `bytes`.
__device__ __forceinline__ void cp_async_16(void* to, const void* from, const int bytes) {
#ifdef KW_SIM
  __kw_sim_cp_async_16(to, from, bytes);
#else
  const unsigned address = (unsigned)__cvta_generic_to_shared(to);
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from), "r"(bytes) : "memory");
#endif
}

__device__ __forceinline__ void cp_async_commit() {
#ifdef KW_SIM
  __kw_sim_cp_async_commit();
#else
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Until at most N of the groups committed last are still under way.
template <int N>
__device__ __forceinline__ void cp_async_wait() {
#ifdef KW_SIM
  __kw_sim_cp_async_wait_group<N>();
#else
  asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
#endif
}

// Seldom after the first panels: most often no row of a warp has found a larger score.
__device__ __forceinline__ void shrink_sums(const float (&shrink)[2], float (&out)[VALUE_TILES][4]) {
  if (!__any_sync(ALL_LANES, shrink[0] != 1.0f || shrink[1] != 1.0f)) return;
  #pragma unroll
  for (int j = 0; j < VALUE_TILES; ++j)
    #pragma unroll
    for (int i = 0; i < 4; ++i) out[j][i] *= shrink[i / 2];
}

// Four 8 x 8 matrices of 16-bit elements; lanes 8 i to 8 i + 7 point to the rows of the i-th.
__device__ __forceinline__ void load_matrices(unsigned (&fragment)[4], const __half* row) {
#ifdef KW_SIM
  __kw_sim_ldmatrix_x4(fragment, row);
#else
  const unsigned address = (unsigned)__cvta_generic_to_shared(row);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(fragment[0]), "=r"(fragment[1]), "=r"(fragment[2]), "=r"(fragment[3])
               : "r"(address)
               : "memory");
#endif
}

__device__ __forceinline__ void load_transposed(unsigned (&fragment)[4], const __half* row) {
#ifdef KW_SIM
  __kw_sim_ldmatrix_x4_trans(fragment, row);
#else
  const unsigned address = (unsigned)__cvta_generic_to_shared(row);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(fragment[0]), "=r"(fragment[1]), "=r"(fragment[2]), "=r"(fragment[3])
               : "r"(address)
               : "memory");
#endif
}

// d += a * b for 16 x 16 by 16 x 8, of which b is two registers of a fragment of four.
__device__ __forceinline__ void multiply_add(float (&d)[4], const unsigned (&a)[4], const unsigned b0,
                                             const unsigned b1) {
#ifdef KW_SIM
  const unsigned b[2] = {b0, b1};
  __kw_sim_mma_m16n8k16_f16_f32(d, a, b);
#else
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#endif
}

__device__ __forceinline__ unsigned pack_halves(const float low, const float high) {
  const __half2 pair = __floats2half2_rn(low, high);
  unsigned bits;
  memcpy(&bits, &pair, sizeof bits);
  return bits;
}

// Where 16 bytes of a row begin. Rows of a multiple of 128 bytes begin in the same bank, so their chunks are exchanged
// by row; other rows are 16 bytes apart from where they would be. Either way eight rows' chunks lie in different banks.
template <int PAD, int STRIDE>
__device__ __forceinline__ int chunk_offset(const int row, const int chunk) {
  return row * STRIDE + (PAD % 64 == 0 ? chunk ^ (row & 7) : chunk) * 8;
}

// Whether a warp keeps its queries in registers, or loads them again for each tile of keys.
constexpr bool query_is_held = 16 * QUERY_TILES >= HEAD_DIM;

// The 16 queries of a warp, 16 elements of each from 16 * k on.
__device__ __forceinline__ void load_query(const __half* queries, const int first, const int lane, const int k,
                                           unsigned (&fragment)[4]) {
  load_matrices(fragment, queries + chunk_offset<HEAD_PAD, HEAD_STRIDE>(first + lane % 16, 2 * k + lane / 16));
}

// Of a warp's queries with all keys of a tile.
__device__ __forceinline__ void dot_products(unsigned (&query)[QUERY_TILES][4], const __half* queries,
                                             const int first, const __half* keys, const int lane,
                                             float (&scores)[SCORE_TILES][4]) {
  #pragma unroll
  for (int n = 0; n < SCORE_TILES; ++n)
    #pragma unroll
    for (int i = 0; i < 4; ++i) scores[n][i] = 0.0f;
  const int key = lane % 8 + lane / 16 * 8, half = lane / 8 % 2;
  #pragma unroll
  for (int k = 0; k < HEAD_PAD / 16; ++k) {
    if (!query_is_held) load_query(queries, first, lane, k, query[0]);
    #pragma unroll
    for (int n = 0; n < SCORE_TILES; n += 2) {
      unsigned two[4];
      load_matrices(two, keys + chunk_offset<HEAD_PAD, HEAD_STRIDE>(8 * n + key, 2 * k + half));
      multiply_add(scores[n], query[query_is_held ? k : 0], two[0], two[1]);
      multiply_add(scores[n + 1], query[query_is_held ? k : 0], two[2], two[3]);
    }
  }
}

// out = out * shrink + probabilities * values. The probabilities are rounded to f16; the accumulators of the scores
// are laid out as the left operand of the next product has to be.
__device__ __forceinline__ void add_values(const float (&probabilities)[SCORE_TILES][4], const float (&shrink)[2],
                                           const __half* values, const int lane, float (&out)[VALUE_TILES][4]) {
  shrink_sums(shrink, out);
  #pragma unroll
  for (int k = 0; k < BN / 16; ++k) {
    const unsigned left[4] = {pack_halves(probabilities[2 * k][0], probabilities[2 * k][1]),
                              pack_halves(probabilities[2 * k][2], probabilities[2 * k][3]),
                              pack_halves(probabilities[2 * k + 1][0], probabilities[2 * k + 1][1]),
                              pack_halves(probabilities[2 * k + 1][2], probabilities[2 * k + 1][3])};
    #pragma unroll
    for (int j = 0; j < VALUE_TILES; j += 2) {
      unsigned two[4];
      load_transposed(two, values + chunk_offset<VALUE_PAD, VALUE_STRIDE>(16 * k + lane % 16, j + lane / 16));
      multiply_add(out[j], left, two[0], two[1]);
      multiply_add(out[j + 1], left, two[2], two[3]);
    }
  }
}

// ROWS rows into a tile, with zeros behind each row and behind the last. Rows that do not begin on 16 bytes are copied
// element by element, at once.
template <int ROWS, int DIM, int PAD, int STRIDE>
__device__ __forceinline__ void load_rows(const __half* from, __half* to, const int rows_left) {
  constexpr int chunks = PAD / CHUNK;
  const int thread = (int)threadIdx.x;
  if (DIM % CHUNK == 0 && DIM == PAD && THREADS % chunks == 0 && ROWS <= rows_left) {
    // A thread copies the same chunk of every so many rows, whose places are a constant apart.
    constexpr int step = THREADS / chunks > 0 ? THREADS / chunks : 1;
    // Operands of 4 bytes are split where they are multiplied, which leaves few registers for the copies' places, and
    // wide heads leave none.
    constexpr int most = CHUNK > 4 ? 16 : HEAD_PAD > 128 || VALUE_PAD > 128 ? 1 : 4;
    constexpr int unrolled = ROWS / step < most ? ROWS / step + 1 : most;
    const int first = thread / chunks, chunk = thread % chunks;
    const __half* source = from + thread * CHUNK;
    #pragma unroll unrolled
    for (int r = 0; r < ROWS; r += step) {
      const int row = first + r;
      if (ROWS % step == 0 || row < ROWS) cp_async_16(to + chunk_offset<PAD, STRIDE>(row, chunk), source + r * DIM, 16);
    }
    return;
  }
  #pragma unroll 1
  for (int i = thread; i < ROWS * chunks; i += THREADS) {
    const int row = i / chunks, chunk = i % chunks, d = chunk * CHUNK;
    __half* target = to + chunk_offset<PAD, STRIDE>(row, chunk);
    const bool inside = row < rows_left && d < DIM;
    if (DIM % CHUNK == 0) {
      cp_async_16(target, inside ? from + (long)row * DIM + d : from, inside ? 16 : 0);
    } else {
      #pragma unroll
      for (int e = 0; e < CHUNK; ++e)
        target[e] = inside && d + e < DIM ? from[(long)row * DIM + d + e] : __float2half(0.0f);
    }
  }
}

// Two neighbouring elements of a row of the output, those of them that there are.
__device__ __forceinline__ void store_pair(__half* row, const int d, const float first, const float second) {
  if (VALUE_DIM % 2 == 0 && d < VALUE_DIM) {
    *(__half2*)(row + d) = __floats2half2_rn(first, second);
    return;
  }
  if (d < VALUE_DIM) row[d] = __float2half(first);
  if (d + 1 < VALUE_DIM) row[d + 1] = __float2half(second);
}

// A tile of BM queries of one head per block, 16 per warp. Keys and values pass through a ring of STAGES tiles that is
// filled ahead of their use. Softmax is online: peak and total hold each row's largest score so far and a thread's
// share of the sum of its probabilities.
extern "C" __global__ __launch_bounds__(THREADS, 1)
void attention(const __half* __restrict__ Q, const __half* __restrict__ K, const __half* __restrict__ V,
               const int* __restrict__ document_id, __half* __restrict__ O, const int Sq, const int Skv, const int Hq,
               const int Hkv) {
  extern __shared__ __align__(16) unsigned char shared_memory[];
  __half* queries = (__half*)shared_memory;
  __half* keys = queries + BM * HEAD_STRIDE;
  __half* values = keys + STAGES * BN * HEAD_STRIDE;
  const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
  const int thread_row = 16 * warp + lane / 4, thread_key = 2 * (lane % 4);
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
  const __half* head_keys = K + key_head * Skv * HEAD_DIM;
  const __half* head_values = V + key_head * Skv * VALUE_DIM;
  const auto load_keys = [&](const int panel, const int stage) {
    const int first_key = panel * BN;
    load_rows<BN, HEAD_DIM, HEAD_PAD, HEAD_STRIDE>(head_keys + (long)first_key * HEAD_DIM,
                                                   keys + stage * BN * HEAD_STRIDE, Skv - first_key);
  };
  const auto load_values = [&](const int panel, const int stage) {
    const int first_key = panel * BN;
    load_rows<BN, VALUE_DIM, VALUE_PAD, VALUE_STRIDE>(head_values + (long)first_key * VALUE_DIM,
                                                      values + stage * BN * VALUE_STRIDE, Skv - first_key);
  };

  int panel = first_panel, ahead = panel;
  load_rows<BM, HEAD_DIM, HEAD_PAD, HEAD_STRIDE>(Q + (query_head * Sq + first_row) * HEAD_DIM, queries,
                                                 Sq - first_row);
  float out[VALUE_TILES][4], peak[2] = {-INFINITY, -INFINITY}, total[2] = {0.0f, 0.0f};
  #pragma unroll
  for (int j = 0; j < VALUE_TILES; ++j)
    #pragma unroll
    for (int i = 0; i < 4; ++i) out[j][i] = 0.0f;
  cp_async_commit();
  #pragma unroll
  for (int stage = 0; stage < STAGES - 1; ++stage) {
    if (ahead < end_panel) {
      load_keys(ahead, stage);
      load_values(ahead, stage);
      ahead = ahead + 1;
    }
    cp_async_commit();
  }
  // The queries were copied first; the tiles behind them may still be under way.
  unsigned query[QUERY_TILES][4];
  if (query_is_held) {
    cp_async_wait<STAGES - 1>();
    __syncthreads();
    #pragma unroll
    for (int k = 0; k < QUERY_TILES; ++k) load_query(queries, 16 * warp, lane, k, query[k]);
  }

  #pragma unroll 1
  for (int stage = 0; panel < end_panel; stage = stage + 1 < STAGES ? stage + 1 : 0) {
    const int first_key = panel * BN;
    cp_async_wait<STAGES - 2>();
    __syncthreads();  // the stage is filled for all, and the one before it is used up
    if (ahead < end_panel) {
      const int free_stage = stage > 0 ? stage - 1 : STAGES - 1;
      load_keys(ahead, free_stage);
      load_values(ahead, free_stage);
      ahead = ahead + 1;
    }
    cp_async_commit();

    float scores[SCORE_TILES][4], highest[2], shrink[2];
    dot_products(query, queries, 16 * warp, keys + stage * BN * HEAD_STRIDE, lane, scores);
    if (first_key < every_first || first_key + BN - 1 > every_last)
      finish_scores(scores, highest, true, first_row + thread_row, first_key + thread_key, row_first,
                    row_last, Sq, Skv, scale);
    else
      finish_scores(scores, highest, false, first_row + thread_row, first_key + thread_key, row_first,
                    row_last, Sq, Skv, scale);
    online_softmax(scores, highest, scale, peak, total, shrink);
    add_values(scores, shrink, values + stage * BN * VALUE_STRIDE, lane, out);
    panel = panel + 1;
  }

  #pragma unroll
  for (int r = 0; r < 2; ++r) {
    const int row = first_row + thread_row + r * ROW_STEP;
    const float sum = over_lanes(total[r]);
    if (row >= Sq) continue;
    // A row whose keys were all masked has no probabilities, and its output is zero.
    const float factor = sum > 0.0f ? 1.0f / sum : 0.0f;
    auto* to = O + (query_head * Sq + row) * VALUE_DIM;
    #pragma unroll
    for (int j = 0; j < VALUE_TILES; ++j)
      store_pair(to, 8 * j + thread_key, out[j][2 * r] * factor, out[j][2 * r + 1] * factor);
  }
}

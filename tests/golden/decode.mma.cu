/*kernelwright
format      = 1
target      = "cuda"
problem     = "attention/decode"
generator   = "mma 3"
constraints = ["4 * ((16 * WARPS) * (round_up(128, 8) + 8 * (round_up(128, 8) % 16 == 0)) + STAGES * BLOCK_N * ((round_up(128, 8) + 8 * (round_up(128, 8) % 16 == 0)) + (round_up(128, 8) + 4))) + 8 * (16 * WARPS) + 16 <= shared_bytes_per_block",
               "round_up(128, 8) / 2 + BLOCK_N + 64 <= min(max_registers_per_thread, registers_per_block / (32 * WARPS))"]

[tunables]
WARPS           = {values = [1, 2, 4, 8], default = 1}
BLOCK_N         = {values = [16, 32, 64, 128], default = 16}
STAGES          = {values = [2, 3, 4], default = 2}
UNROLL_D        = {values = [1, 2, 4], default = 4}
BLOCKS_PER_UNIT = {values = [1, 2, 4, 8], default = 4}

[defines]
HEAD_DIM     = "D"
VALUE_DIM    = "Dv"
BLOCK_WARPS  = "WARPS"
PANEL_KEYS   = "BLOCK_N"
HEAD_PAD     = "round_up(D, 8)"
HEAD_STRIDE  = "(round_up(D, 8) + 8 * (round_up(D, 8) % 16 == 0))"
VALUE_PAD    = "round_up(Dv, 8)"
VALUE_STRIDE = "(round_up(Dv, 8) + 4)"

[scratch]
part_values = {dtype = "f32", elements = "B * Hq * Sq * max(1, min(ceil_div(Skv, BLOCK_N), compute_units * BLOCKS_PER_UNIT / (ceil_div(Sq * (Hq / Hkv), (16 * WARPS)) * Hkv * B))) * Dv"}
part_sums   = {dtype = "f32", elements = "B * Hq * Sq * max(1, min(ceil_div(Skv, BLOCK_N), compute_units * BLOCKS_PER_UNIT / (ceil_div(Sq * (Hq / Hkv), (16 * WARPS)) * Hkv * B))) * 2"}

[[launch]]
kernel       = "attention"
grid         = ["ceil_div(Sq * (Hq / Hkv), (16 * WARPS)) * max(1, min(ceil_div(Skv, BLOCK_N), compute_units * BLOCKS_PER_UNIT / (ceil_div(Sq * (Hq / Hkv), (16 * WARPS)) * Hkv * B)))",
                "Hkv", "B"]
block        = ["32 * WARPS", "1", "1"]
shared_bytes = "4 * ((16 * WARPS) * (round_up(D, 8) + 8 * (round_up(D, 8) % 16 == 0)) + STAGES * BLOCK_N * ((round_up(D, 8) + 8 * (round_up(D, 8) % 16 == 0)) + (round_up(Dv, 8) + 4)))"
args         = ["Q", "K", "V", "position", "part_values", "part_sums", "Sq", "Skv", "Hq", "Hkv",
                "max(1, min(ceil_div(Skv, BLOCK_N), compute_units * BLOCKS_PER_UNIT / (ceil_div(Sq * (Hq / Hkv), (16 * WARPS)) * Hkv * B)))"]

[[launch]]
kernel = "merge"
grid   = ["B * Hq * Sq", "ceil_div(Dv, 128)"]
block  = ["128", "1"]
args   = ["part_values", "part_sums", "O",
                "max(1, min(ceil_div(Skv, BLOCK_N), compute_units * BLOCKS_PER_UNIT / (ceil_div(Sq * (Hq / Hkv), (16 * WARPS)) * Hkv * B)))"]
*/
// attention/decode: One query per sequence against a long cache of keys.
// Written by kernelwright, generator "mma 3".
//
// mask_mod:
// def decode(b, h, q_idx, kv_idx):
//     return q_idx + position[b] >= kv_idx
//
// How: a warp takes 16 queries through the keys in panels of BN, with mma.sync; scores and probabilities stay in
// registers, and keys and values are copied STAGES - 1 panels ahead of their use.
// Operands are split into two tf32 numbers each; three of the four products of their parts give f32.
// The mask allows an interval of keys per row: blocks outside it are never touched, and only
// the interval's ends are masked.
// The rows of a tile are of all heads that share a key head, one head after the other.
// There are few queries, so the keys are cut into parts of whole panels, as many as keep the device busy;
// a last kernel merges the parts.

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
#define CHUNK (16 / (int)sizeof(float))

#define LOG2_E 1.44269504f
#define ALL_LANES 0xffffffffu

// The mask allows exactly the keys from first_allowed to last_allowed; none if first is after last.
__device__ __forceinline__ int first_allowed(const int b, const int h, const int q_idx,
                                             const int* __restrict__ position, const int Skv) {
  return 0;
}
__device__ __forceinline__ int last_allowed(const int b, const int h, const int q_idx,
                                            const int* __restrict__ position, const int Skv) {
  return min(q_idx + position[b], Skv - 1);
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
                                              const int (&row_last)[THREAD_ROWS], const int first_head,
                                              const int group_rows, const int Sq, const int Skv,
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

// Pragmas take constants, and definitions are not replaced in them.
constexpr int unroll_head = UNROLL_D;

// A float as the sum of two tf32 numbers, to within 2^-21 of it: the first one is the nearest with 10 bits behind the
// point, ties away from zero; of the rest, tensor cores read as many bits as a tf32 number has.
struct Split {
  unsigned high, low;
};

__device__ __forceinline__ Split split(const float x) {
  Split parts;
  parts.high = (__float_as_uint(x) + 0x1000u) & 0xffffe000u;
  parts.low = __float_as_uint(x - __uint_as_float(parts.high));
  return parts;
}

// d += a * b for 16 x 8 by 8 x 8.
__device__ __forceinline__ void multiply_add(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
#ifdef KW_SIM
  __kw_sim_mma_m16n8k8_tf32_f32(d, a, b);
#else
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}

// A left operand of f32, and what is left of its product with (b0, b1) when both are split: the large parts' product
// goes to `sum`, the mixed ones to `rest`, the small ones' is below what f32 can tell. They are kept apart because
// tensor cores cut off what does not fit an accumulator, so each addition to a large sum costs precision.
struct SplitFragment {
  unsigned high[4], low[4];
};

__device__ __forceinline__ void set(SplitFragment& fragment, const int i, const float x) {
  const Split parts = split(x);
  fragment.high[i] = parts.high;
  fragment.low[i] = parts.low;
}

__device__ __forceinline__ void multiply_add_split(float (&sum)[4], float (&rest)[4], const SplitFragment& a,
                                                   const float b0, const float b1) {
  const Split first = split(b0), second = split(b1);
  const unsigned high[2] = {first.high, second.high}, low[2] = {first.low, second.low};
  multiply_add(sum, a.high, high);
  multiply_add(rest, a.high, low);
  multiply_add(rest, a.low, high);
}

// Where 16 bytes of a row begin; the strides keep what the lanes of a warp read at once in different banks.
template <int PAD, int STRIDE>
__device__ __forceinline__ int chunk_offset(const int row, const int chunk) {
  return row * STRIDE + chunk * 4;
}

// Of a warp's queries with all keys of a tile. An instruction takes 8 elements of each in any order that both share:
// a lane takes two neighbours.
__device__ __forceinline__ void dot_products(const float* queries, const float* keys, const int lane,
                                             float (&scores)[SCORE_TILES][4]) {
  float rest[SCORE_TILES][4];
  #pragma unroll
  for (int n = 0; n < SCORE_TILES; ++n)
    #pragma unroll
    for (int i = 0; i < 4; ++i) scores[n][i] = rest[n][i] = 0.0f;
  const float* query = queries + lane / 4 * HEAD_STRIDE + 2 * (lane % 4);
  const float* key = keys + lane / 4 * HEAD_STRIDE + 2 * (lane % 4);
  #pragma unroll unroll_head
  for (int k = 0; k < HEAD_PAD; k += 8) {
    const float2 upper = *(const float2*)(query + k), lower = *(const float2*)(query + 8 * HEAD_STRIDE + k);
    SplitFragment left;
    set(left, 0, upper.x);
    set(left, 1, lower.x);
    set(left, 2, upper.y);
    set(left, 3, lower.y);
    #pragma unroll
    for (int n = 0; n < SCORE_TILES; ++n) {
      const float2 right = *(const float2*)(key + 8 * n * HEAD_STRIDE + k);
      multiply_add_split(scores[n], rest[n], left, right.x, right.y);
    }
  }
  #pragma unroll
  for (int n = 0; n < SCORE_TILES; ++n)
    #pragma unroll
    for (int i = 0; i < 4; ++i) scores[n][i] += rest[n][i];
}

// out = out * shrink + probabilities * values. The tile's own sum starts from zero, so that `out` is added to in f32.
__device__ __forceinline__ void add_values(const float (&probabilities)[SCORE_TILES][4], const float (&shrink)[2],
                                           const float* values, const int lane, float (&out)[VALUE_TILES][4]) {
  SplitFragment left[SCORE_TILES];
  #pragma unroll
  for (int k = 0; k < SCORE_TILES; ++k) {
    // Keys 2 t and 2 t + 1 of a lane's accumulators as elements t and t + 4 of the operand.
    set(left[k], 0, probabilities[k][0]);
    set(left[k], 1, probabilities[k][2]);
    set(left[k], 2, probabilities[k][1]);
    set(left[k], 3, probabilities[k][3]);
  }
  const float* value = values + 2 * (lane % 4) * VALUE_STRIDE + lane / 4;
  #pragma unroll
  for (int j = 0; j < VALUE_TILES; ++j) {
    float sum[4] = {0.0f, 0.0f, 0.0f, 0.0f}, rest[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    #pragma unroll
    for (int k = 0; k < SCORE_TILES; ++k) {
      const float* two = value + 8 * k * VALUE_STRIDE + 8 * j;
      multiply_add_split(sum, rest, left[k], two[0], two[VALUE_STRIDE]);
    }
    #pragma unroll
    for (int i = 0; i < 4; ++i) out[j][i] = fmaf(out[j][i], shrink[i / 2], sum[i] + rest[i]);
  }
}

// ROWS rows into a tile, with zeros behind each row and behind the last. Rows that do not begin on 16 bytes are copied
// element by element, at once.
template <int ROWS, int DIM, int PAD, int STRIDE>
__device__ __forceinline__ void load_rows(const float* from, float* to, const int rows_left) {
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
    const float* source = from + thread * CHUNK;
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
    float* target = to + chunk_offset<PAD, STRIDE>(row, chunk);
    const bool inside = row < rows_left && d < DIM;
    if (DIM % CHUNK == 0) {
      cp_async_16(target, inside ? from + (long)row * DIM + d : from, inside ? 16 : 0);
    } else {
      #pragma unroll
      for (int e = 0; e < CHUNK; ++e)
        target[e] = inside && d + e < DIM ? from[(long)row * DIM + d + e] : 0.0f;
    }
  }
}

// Two neighbouring elements of a row of the output, those of them that there are.
__device__ __forceinline__ void store_pair(float* row, const int d, const float first, const float second) {
  if (VALUE_DIM % 2 == 0 && d < VALUE_DIM) {
    *(float2*)(row + d) = make_float2(first, second);
    return;
  }
  if (d < VALUE_DIM) row[d] = first;
  if (d + 1 < VALUE_DIM) row[d + 1] = second;
}

// A tile of BM queries of one head per block, 16 per warp. Keys and values pass through a ring of STAGES tiles that is
// filled ahead of their use. Softmax is online: peak and total hold each row's largest score so far and a thread's
// share of the sum of its probabilities.
extern "C" __global__ __launch_bounds__(THREADS, 1)
void attention(const float* __restrict__ Q, const float* __restrict__ K, const float* __restrict__ V,
               const int* __restrict__ position, float* __restrict__ part_values, float* __restrict__ part_sums,
               const int Sq, const int Skv, const int Hq, const int Hkv, const int parts) {
  extern __shared__ __align__(16) unsigned char shared_memory[];
  float* queries = (float*)shared_memory;
  float* keys = queries + BM * HEAD_STRIDE;
  float* values = keys + STAGES * BN * HEAD_STRIDE;
  const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
  const int thread_row = 16 * warp + lane / 4, thread_key = 2 * (lane % 4);
  const int b = blockIdx.z, first_head = blockIdx.y * (Hq / Hkv);
  const int group_rows = Sq * (Hq / Hkv);
  const long query_head = (long)b * Hq + first_head;
  const long key_head = (long)b * Hkv + blockIdx.y;
  const int first_row = (int)blockIdx.x / parts * BM;
  const int part = (int)blockIdx.x % parts;
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
    const int packed_row = min(first_row + i, group_rows - 1);
    const int q_idx = packed_row % Sq;
    const int h = first_head + packed_row / Sq;
    const int first = first_allowed(b, h, q_idx, position, Skv);
    const int last = last_allowed(b, h, q_idx, position, Skv);
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
  // This block's part of the panels.
  const int share = (end_panel - first_panel + parts - 1) / parts;
  const int part_first = first_panel + part * share, part_end = min(end_panel, part_first + share);
  const float* head_keys = K + key_head * Skv * HEAD_DIM;
  const float* head_values = V + key_head * Skv * VALUE_DIM;
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

  int panel = part_first, ahead = panel;
  load_rows<BM, HEAD_DIM, HEAD_PAD, HEAD_STRIDE>(Q + (query_head * Sq + first_row) * HEAD_DIM, queries,
                                                 group_rows - first_row);
  float out[VALUE_TILES][4], peak[2] = {-INFINITY, -INFINITY}, total[2] = {0.0f, 0.0f};
  #pragma unroll
  for (int j = 0; j < VALUE_TILES; ++j)
    #pragma unroll
    for (int i = 0; i < 4; ++i) out[j][i] = 0.0f;
  cp_async_commit();
  #pragma unroll
  for (int stage = 0; stage < STAGES - 1; ++stage) {
    if (ahead < part_end) {
      load_keys(ahead, stage);
      load_values(ahead, stage);
      ahead = ahead + 1;
    }
    cp_async_commit();
  }

  #pragma unroll 1
  for (int stage = 0; panel < part_end; stage = stage + 1 < STAGES ? stage + 1 : 0) {
    const int first_key = panel * BN;
    cp_async_wait<STAGES - 2>();
    __syncthreads();  // the stage is filled for all, and the one before it is used up
    if (ahead < part_end) {
      const int free_stage = stage > 0 ? stage - 1 : STAGES - 1;
      load_keys(ahead, free_stage);
      load_values(ahead, free_stage);
      ahead = ahead + 1;
    }
    cp_async_commit();

    float scores[SCORE_TILES][4], highest[2], shrink[2];
    dot_products(queries + 16 * warp * HEAD_STRIDE, keys + stage * BN * HEAD_STRIDE, lane, scores);
    if (first_key < every_first || first_key + BN - 1 > every_last)
      finish_scores(scores, highest, true, first_row + thread_row, first_key + thread_key, row_first,
                    row_last, first_head, group_rows, Sq, Skv, scale);
    else
      finish_scores(scores, highest, false, first_row + thread_row, first_key + thread_key, row_first,
                    row_last, first_head, group_rows, Sq, Skv, scale);
    online_softmax(scores, highest, scale, peak, total, shrink);
    add_values(scores, shrink, values + stage * BN * VALUE_STRIDE, lane, out);
    panel = panel + 1;
  }

  #pragma unroll
  for (int r = 0; r < 2; ++r) {
    const int row = first_row + thread_row + r * ROW_STEP;
    const float sum = over_lanes(total[r]);
    if (row >= group_rows) continue;
    const long place = (query_head * Sq + row) * parts + part;
    if (sum > 0.0f) {
      #pragma unroll
      for (int j = 0; j < VALUE_TILES; ++j)
        store_pair(part_values + place * VALUE_DIM, 8 * j + thread_key, out[j][2 * r], out[j][2 * r + 1]);
    }
    if (thread_key == 0) *(float2*)(part_sums + 2 * place) = make_float2(peak[r], sum);
  }
}

// Merges the parts of a row: sums of probabilities relative to one peak are sums relative to another one times
// 2^(peak - other). A part that saw no key has a sum of zero, and wrote no values.
extern "C" __global__ __launch_bounds__(128)
void merge(const float* __restrict__ part_values, const float* __restrict__ part_sums, float* __restrict__ O,
           const int parts) {
  const long row = blockIdx.x;
  const int d = (int)(blockIdx.y * blockDim.x + threadIdx.x);
  const float2* sums = (const float2*)part_sums + row * parts;
  float peak = -INFINITY;
  #pragma unroll 8
  for (int p = 0; p < parts; ++p) peak = fmaxf(peak, sums[p].x);
  const float base = peak == -INFINITY ? 0.0f : peak;
  float total = 0.0f, value = 0.0f;
  #pragma unroll 8
  for (int p = 0; p < parts; ++p) {
    const float2 sum = sums[p];
    const float probability = power_of_two(sum.x - base);
    total = fmaf(probability, sum.y, total);
    if (sum.y > 0.0f && d < VALUE_DIM) value = fmaf(probability, part_values[(row * parts + p) * VALUE_DIM + d], value);
  }
  if (d >= VALUE_DIM) return;
  // A row whose keys were all masked has no probabilities, and its output is zero.
  const float result = total > 0.0f ? value / total : 0.0f;
  O[row * VALUE_DIM + d] = result;
}

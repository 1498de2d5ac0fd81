/*kernelwright
format      = 1
target      = "cuda"
problem     = "attention/neighborhood_2d"
generator   = "mma 1"
constraints = ["4 * ((16 * WARPS) * (round_up(64, 8) + 8 * (round_up(64, 8) % 16 == 0)) + STAGES * KEYS * ((round_up(64, 8) + 8 * (round_up(64, 8) % 16 == 0)) + (round_up(64, 8) + 4))) + 8 * (16 * WARPS) + 16 <= shared_bytes_per_block",
               "round_up(64, 8) / 2 + KEYS + 64 <= min(max_registers_per_thread, registers_per_block / (32 * WARPS))"]

[tunables]
WARPS    = {values = [1, 2, 4, 8], default = 2}
KEYS     = {values = [16, 32, 64, 128], default = 32}
STAGES   = {values = [2, 3, 4], default = 4}
UNROLL_D = {values = [1, 2, 4], default = 1}

[defines]
HEAD_DIM     = "D"
VALUE_DIM    = "Dv"
BLOCK_WARPS  = "WARPS"
PANEL_KEYS   = "KEYS"
HEAD_PAD     = "round_up(D, 8)"
HEAD_STRIDE  = "(round_up(D, 8) + 8 * (round_up(D, 8) % 16 == 0))"
VALUE_PAD    = "round_up(Dv, 8)"
VALUE_STRIDE = "(round_up(Dv, 8) + 4)"

[scratch]
block_map = {dtype = "i32", elements = "ceil_div(Sq, (16 * WARPS)) * ceil_div(Skv, KEYS)"}

[[launch]]
kernel = "classify"
grid   = ["ceil_div(Sq, (16 * WARPS)) * ceil_div(Skv, KEYS)", "1", "1"]
block  = ["32 * WARPS", "1", "1"]
args   = ["block_map", "Sq", "Skv", "Width"]

[[launch]]
kernel       = "attention"
grid         = ["ceil_div(Sq, (16 * WARPS))", "Hq", "B"]
block        = ["32 * WARPS", "1", "1"]
shared_bytes = "4 * ((16 * WARPS) * (round_up(D, 8) + 8 * (round_up(D, 8) % 16 == 0)) + STAGES * KEYS * ((round_up(D, 8) + 8 * (round_up(D, 8) % 16 == 0)) + (round_up(Dv, 8) + 4)))"
args         = ["Q", "K", "V", "block_map", "O", "Sq", "Skv", "Hq", "Hkv", "Width"]
*/
// attention/neighborhood_2d: Neighborhood attention on an image, 7 by 9 pixels.
// Written by kernelwright, generator "mma 1".
//
// mask_mod:
// def near(query, key, length, kernel):
//     start = torch.clamp(query - kernel // 2, 0, length - kernel)
//     return (start <= key) & (key < start + kernel)
//
// def neighborhood_2d(b, h, q_idx, kv_idx):
//     rows = near(q_idx // Width, kv_idx // Width, Sq // Width, 7)
//     return rows & near(q_idx % Width, kv_idx % Width, Width, 9)
//
// How: a warp takes 16 queries through the keys in panels of BN, with mma.sync; scores and weights stay in
// registers, and keys and values are copied STAGES - 1 panels ahead of their use.
// Operands are split into two tf32 numbers each; three of the four products of their parts give f32.
// The mask is no interval of keys per row: a first kernel classifies panels of BN keys for each tile of
// BM rows; empty ones are skipped, full ones are not masked.

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

__device__ __forceinline__ int floor_div(const int a, const int b) {
  if (b == 0) return 0;
  const int quotient = a / b;
  return quotient - (a % b != 0 && ((a < 0) != (b < 0)));
}
__device__ __forceinline__ int floor_mod(const int a, const int b) {
  if (b == 0) return 0;
  const int remainder = a % b;
  return remainder != 0 && ((remainder < 0) != (b < 0)) ? remainder + b : remainder;
}

// 2^x within two units of the last place; exactly 0 for -inf, so that masked scores weigh nothing.
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
                                              const int Sq, const int Skv, const float scale, const int Width,
                                              const int m1, const int m5) {
  #pragma unroll
  for (int r = 0; r < THREAD_ROWS; ++r) {
    const int q_idx = min(thread_query + r * ROW_STEP, Sq - 1);
    const int allowed_last = Skv - 1;
    const int m2 = min(max(floor_div(q_idx, Width) - 3, 0), m1);
    const int m4 = m2 + 7;
    const int m6 = min(max(floor_mod(q_idx, Width) - 4, 0), m5);
    const int m8 = m6 + 9;
    highest[r] = -INFINITY;
    #pragma unroll
    for (int c = 0; c < THREAD_KEYS; ++c) {
      const int key = thread_key + c / 2 * 8 + c % 2;
      const int kv_idx = masked ? min(key, Skv - 1) : key;
      const float dot_product = SCORE(r, c);
      float s = dot_product;
      const int m3 = floor_div(kv_idx, Width);
      const int m7 = floor_mod(kv_idx, Width);
      const int attend = ((m2 <= m3) & (m3 < m4)) & ((m6 <= m7) & (m7 < m8));
      if (masked && !(attend && key <= allowed_last)) s = -INFINITY;
      SCORE(r, c) = s;
      highest[r] = fmaxf(highest[r], s);
    }
  }
}

// Scores to weights 2^(score * unit - peak). `total` gathers the thread's weights, and `shrink` is what everything
// summed with the last peak must be multiplied by.
__device__ __forceinline__ void weigh(float (&scores)[SCORE_TILES][4], const float (&highest)[THREAD_ROWS],
                                      const float unit, float (&peak)[THREAD_ROWS], float (&total)[THREAD_ROWS],
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

// A row's weights, gathered over the lanes that share it.
__device__ __forceinline__ float over_lanes(float sum) {
  #pragma unroll
  for (int step = ROW_LANES / 2; step > 0; step /= 2) sum += __shfl_xor_sync(ALL_LANES, sum, step);
  return sum;
}
// The block map: which keys of each panel the rows of a tile may attend to.
// The mask knows nothing of the batch and head, and the map has one entry for all.
#define NO_KEY 0
#define SOME_KEYS 1
#define EVERY_KEY 2

extern "C" __global__ __launch_bounds__(THREADS)
void classify(int* __restrict__ block_map, const int Sq, const int Skv, const int Width) {
  // A block for every panel of a tile: where there are few tiles, there are many panels.
  const int panels = (Skv + BN - 1) / BN;
  const int first_key = (int)blockIdx.x % panels * BN;
  const int first_row = (int)blockIdx.x / panels * BM;
  const long entry = ((long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const int m1 = floor_div(Sq, Width) - 7;
  const int m5 = Width - 9;
  int some = 0, every = 1;
  for (int i = threadIdx.x; i < BM * BN; i += THREADS) {
    const int key = first_key + i % BN;
    const int kv_idx = min(key, Skv - 1);
    const int q_idx = min(first_row + i / BN, Sq - 1);
    const int m2 = min(max(floor_div(q_idx, Width) - 3, 0), m1);
    const int m4 = m2 + 7;
    const int m6 = min(max(floor_mod(q_idx, Width) - 4, 0), m5);
    const int m8 = m6 + 9;
    const int m3 = floor_div(kv_idx, Width);
    const int m7 = floor_mod(kv_idx, Width);
    const int allowed = (((m2 <= m3) & (m3 < m4)) & ((m6 <= m7) & (m7 < m8))) && key < Skv;
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

// A float as the sum of two tf32 numbers, to within 2^-22 of it.
struct Split {
  unsigned high, low;
};

// To the nearest number with 10 bits behind the point, ties away from zero.
__device__ __forceinline__ unsigned to_tf32(const float x) { return (__float_as_uint(x) + 0x1000u) & 0xffffe000u; }

__device__ __forceinline__ Split split(const float x) {
  Split parts;
  parts.high = to_tf32(x);
  parts.low = to_tf32(x - __uint_as_float(parts.high));
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

// out = out * shrink + weights * values. The tile's own sum starts from zero, so that `out` is added to in f32.
__device__ __forceinline__ void add_values(const float (&weights)[SCORE_TILES][4], const float (&shrink)[2],
                                           const float* values, const int lane, float (&out)[VALUE_TILES][4]) {
  SplitFragment left[SCORE_TILES];
  #pragma unroll
  for (int k = 0; k < SCORE_TILES; ++k) {
    // Keys 2 t and 2 t + 1 of a lane's accumulators as elements t and t + 4 of the operand.
    set(left[k], 0, weights[k][0]);
    set(left[k], 1, weights[k][2]);
    set(left[k], 2, weights[k][1]);
    set(left[k], 3, weights[k][3]);
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
// share of the sum of its weights.
extern "C" __global__ __launch_bounds__(THREADS, 1)
void attention(const float* __restrict__ Q, const float* __restrict__ K, const float* __restrict__ V,
               const int* __restrict__ block_map, float* __restrict__ O, const int Sq, const int Skv, const int Hq,
               const int Hkv, const int Width) {
  extern __shared__ __align__(16) unsigned char shared_memory[];
  float* queries = (float*)shared_memory;
  float* keys = queries + BM * HEAD_STRIDE;
  float* values = keys + STAGES * BN * HEAD_STRIDE;
  const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
  const int thread_row = 16 * warp + lane / 4, thread_key = 2 * (lane % 4);
  const int h = blockIdx.y, b = blockIdx.z;
  const long query_head = (long)b * Hq + h;
  const long key_head = (long)b * Hkv + h / (Hq / Hkv);
  const int first_row = (int)blockIdx.x * BM;
  const float scale = LOG2_E * (1.0f / sqrt((float)HEAD_DIM));
  const int m1 = floor_div(Sq, Width) - 7;
  const int m5 = Width - 9;
  const int panels = (Skv + BN - 1) / BN, end_panel = panels;
  const int* codes = block_map + (long)(first_row / BM) * panels;
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

  int panel = needed_panel(codes, 0, end_panel), ahead = panel;
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
      ahead = needed_panel(codes, ahead + 1, end_panel);
    }
    cp_async_commit();
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
      ahead = needed_panel(codes, ahead + 1, end_panel);
    }
    cp_async_commit();

    float scores[SCORE_TILES][4], highest[2], shrink[2];
    dot_products(queries + 16 * warp * HEAD_STRIDE, keys + stage * BN * HEAD_STRIDE, lane, scores);
    if (codes[panel] == SOME_KEYS)
      finish_scores(scores, highest, true, first_row + thread_row, first_key + thread_key, Sq, Skv, scale,
                    Width, m1, m5);
    else
      finish_scores(scores, highest, false, first_row + thread_row, first_key + thread_key, Sq, Skv,
                    scale, Width, m1, m5);
    weigh(scores, highest, scale, peak, total, shrink);
    add_values(scores, shrink, values + stage * BN * VALUE_STRIDE, lane, out);
    panel = needed_panel(codes, panel + 1, end_panel);
  }

  #pragma unroll
  for (int r = 0; r < 2; ++r) {
    const int row = first_row + thread_row + r * ROW_STEP;
    const float sum = over_lanes(total[r]);
    if (row >= Sq) continue;
    // A row whose keys were all masked has no weights, and its output is zero.
    const float factor = sum > 0.0f ? 1.0f / sum : 0.0f;
    auto* to = O + (query_head * Sq + row) * VALUE_DIM;
    #pragma unroll
    for (int j = 0; j < VALUE_TILES; ++j)
      store_pair(to, 8 * j + thread_key, out[j][2 * r] * factor, out[j][2 * r + 1] * factor);
  }
}

/*kernelwright
format      = 1
target      = "cuda"
problem     = "attention/neighborhood_2d"
generator   = "simt 2"
constraints = ["LANES * TEAMS >= 64", "LANES * TEAMS <= 512",
               "4 * ((TEAMS * ROWS) * ((4 * (ceil_div(64, 4) + (ceil_div(64, 4) % 2 == 0))) + (LANES * COLUMNS) + 4) + (LANES * COLUMNS) * ((4 * (ceil_div(64, 4) + (ceil_div(64, 4) % 2 == 0))) + round_up(64, 4 * LANES))) + 8 * (TEAMS * ROWS) + 16 <= shared_bytes_per_block",
               "ROWS * round_up(64, 4 * LANES) / LANES + ROWS * COLUMNS + max(4 * COLUMNS + 4, 4 * ROWS + 16) + 3 * ROWS + 40 <= min(256, max_registers_per_thread, registers_per_block / (LANES * TEAMS))"]

[tunables]
LANES     = {values = [8, 16, 32], default = 8}
TEAMS     = {values = [4, 8, 16, 32], default = 16}
ROWS      = {values = [1, 2, 4, 8], default = 2}
COLUMNS   = {values = [1, 2, 4], default = 2}
UNROLL_D  = {values = [1, 2, 4, 8], default = 4}
UNROLL_KV = {values = [1, 2, 4], default = 2}

[defines]
HEAD_DIM     = "D"
VALUE_DIM    = "Dv"
THREAD_ROWS  = "ROWS"
THREAD_KEYS  = "COLUMNS"
HEAD_STRIDE  = "(4 * (ceil_div(D, 4) + (ceil_div(D, 4) % 2 == 0)))"
VALUE_STRIDE = "round_up(Dv, 4 * LANES)"

[scratch]
block_mask = {dtype = "i32", elements = "ceil_div(Sq, (TEAMS * ROWS)) * ceil_div(Skv, (LANES * COLUMNS))"}

[[launch]]
kernel = "classify"
grid   = ["ceil_div(Sq, (TEAMS * ROWS)) * ceil_div(Skv, (LANES * COLUMNS))", "1", "1"]
block  = ["LANES * TEAMS", "1", "1"]
args   = ["block_mask", "Sq", "Skv", "Width"]

[[launch]]
kernel       = "attention"
grid         = ["ceil_div(Sq, (TEAMS * ROWS))", "Hq", "B"]
block        = ["LANES * TEAMS", "1", "1"]
shared_bytes = "4 * ((TEAMS * ROWS) * ((4 * (ceil_div(D, 4) + (ceil_div(D, 4) % 2 == 0))) + (LANES * COLUMNS) + 4) + (LANES * COLUMNS) * ((4 * (ceil_div(D, 4) + (ceil_div(D, 4) % 2 == 0))) + round_up(Dv, 4 * LANES)))"
args         = ["Q", "K", "V", "block_mask", "O", "Sq", "Skv", "Hq", "Hkv", "Width"]
*/
// attention/neighborhood_2d: Neighborhood attention on an image, 7 by 9 pixels.
// Written by kernelwright, generator "simt 2".
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
// How: a block takes TEAMS * ROWS queries through the keys in panels of LANES * COLUMNS, with K, V, Q and
// the probabilities in shared memory and f32 register tiles of ROWS x COLUMNS scores per thread.
// The mask is no interval of keys per row: a first kernel classifies panels of BN keys for each tile of
// BM rows; empty ones are skipped, full ones are not masked.

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
__device__ __forceinline__ void finish_scores(float (&scores)[THREAD_ROWS][THREAD_KEYS],
                                              float (&highest)[THREAD_ROWS], const bool masked,
                                              const int thread_query, const int thread_key, const int Sq,
                                              const int Skv, const float scale, const int Width, const int m1,
                                              const int m5) {
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
      const int key = thread_key + c * LANES;
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
// The block mask: which keys of each panel the rows of a tile may attend to.
// The mask knows nothing of the batch and head, and the map has one entry for all.
#define NO_KEY 0
#define SOME_KEYS 1
#define EVERY_KEY 2

extern "C" __global__ __launch_bounds__(THREADS)
void classify(int* __restrict__ block_mask, const int Sq, const int Skv, const int Width) {
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
  if (threadIdx.x == 0) block_mask[entry] = every ? EVERY_KEY : some ? SOME_KEYS : NO_KEY;
}

// The first panel from `panel` on of which some row needs a key.
__device__ __forceinline__ int needed_panel(const int* codes, int panel, const int end_panel) {
  while (panel < end_panel && codes[panel] == NO_KEY) ++panel;
  return panel;
}
// Elements d to d + 3 of a row in f32; zeros behind the row's end.
template <int DIM>
__device__ __forceinline__ float4 load_four(const float* row, const int d) {
  if (DIM % 4 == 0 && d < DIM) return *(const float4*)(row + d);
  float4 four;
  four.x = d < DIM ? row[d] : 0.0f;
  four.y = d + 1 < DIM ? row[d + 1] : 0.0f;
  four.z = d + 2 < DIM ? row[d + 2] : 0.0f;
  four.w = d + 3 < DIM ? row[d + 3] : 0.0f;
  return four;
}

// `rows` rows into shared memory in f32, `STRIDE` apart, with zeros behind each row and behind the last.
template <int DIM, int STRIDE>
__device__ __forceinline__ void load_rows(const float* from, float* to, const int rows, const int rows_left) {
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
__device__ __forceinline__ void store_four(float* row, const int d, const float4 four) {
  if (VALUE_DIM % 4 == 0 && d < VALUE_DIM) {
    *(float4*)(row + d) = four;
    return;
  }
  if (d < VALUE_DIM) row[d] = four.x;
  if (d + 1 < VALUE_DIM) row[d + 1] = four.y;
  if (d + 2 < VALUE_DIM) row[d + 2] = four.z;
  if (d + 3 < VALUE_DIM) row[d + 3] = four.w;
}

// A tile of BM queries of one head per block: TEAMS teams of LANES neighbouring lanes, each with THREAD_ROWS rows.
// Softmax is online: peak and total hold each row's largest score so far and a thread's share of the sum of its
// probabilities.
extern "C" __global__ __launch_bounds__(THREADS, 1)
void attention(const float* __restrict__ Q, const float* __restrict__ K, const float* __restrict__ V,
               const int* __restrict__ block_mask, float* __restrict__ O, const int Sq, const int Skv, const int Hq,
               const int Hkv, const int Width) {
  extern __shared__ __align__(16) float tiles[];
  float* queries = tiles;
  float* keys = queries + BM * HEAD_STRIDE;
  float* values = keys + BN * HEAD_STRIDE;
  float* probabilities = values + BN * VALUE_STRIDE;
  const int lane = (int)threadIdx.x % LANES, thread_row = (int)threadIdx.x / LANES, thread_key = lane;
  const int h = blockIdx.y, b = blockIdx.z;
  const long query_head = (long)b * Hq + h;
  const long key_head = (long)b * Hkv + h / (Hq / Hkv);
  const int first_row = (int)blockIdx.x * BM;
  const float scale = LOG2_E * (1.0f / sqrt((float)HEAD_DIM));
  const int m1 = floor_div(Sq, Width) - 7;
  const int m5 = Width - 9;
  const int panels = (Skv + BN - 1) / BN, end_panel = panels;
  const int* codes = block_mask + (long)(first_row / BM) * panels;

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
  for (int panel = needed_panel(codes, 0, end_panel); panel < end_panel;
       panel = needed_panel(codes, panel + 1, end_panel)) {
    const int first_key = panel * BN;
    __syncthreads();  // the last panel's values are used up
    load_rows<HEAD_DIM, HEAD_STRIDE>(K + (key_head * Skv + first_key) * HEAD_DIM, keys, BN, Skv - first_key);
    load_rows<VALUE_DIM, VALUE_STRIDE>(V + (key_head * Skv + first_key) * VALUE_DIM, values, BN, Skv - first_key);
    __syncthreads();

    float scores[THREAD_ROWS][THREAD_KEYS], highest[THREAD_ROWS], shrink[THREAD_ROWS];
    dot_products(queries + thread_row * HEAD_STRIDE, keys + lane * HEAD_STRIDE, scores);
    if (codes[panel] == SOME_KEYS)
      finish_scores(scores, highest, true, first_row + thread_row, first_key + thread_key, Sq, Skv, scale,
                    Width, m1, m5);
    else
      finish_scores(scores, highest, false, first_row + thread_row, first_key + thread_key, Sq, Skv,
                    scale, Width, m1, m5);
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
    __syncwarp();  // a row's probabilities are written and read by one team, which lies in one warp
    add_values(row_probabilities, values + 4 * lane, out);
  }

  #pragma unroll
  for (int r = 0; r < THREAD_ROWS; ++r) {
    const int row = first_row + thread_row + r * TEAMS;
    const float sum = over_lanes(total[r]);
    // A row whose keys were all masked has no probabilities, and its output is zero.
    const float factor = sum > 0.0f ? 1.0f / sum : 0.0f;
    if (row >= Sq) continue;
    float* to = O + (query_head * Sq + row) * VALUE_DIM;
    #pragma unroll
    for (int j = 0; j < VALUE_TILE; ++j) {
      const float4 four = out[r][j];
      store_four(to, 4 * (lane + j * LANES),
                 make_float4(four.x * factor, four.y * factor, four.z * factor, four.w * factor));
    }
  }
}

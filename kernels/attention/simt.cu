// Attention for any GPU, in CUDA C++ and HIP C++. operators/attention/kernels/cuda/simt.cpp fills the holes, and
// CudaAttention those of the parts that fused.cu has.
//
// axes: Sq Skv Hq Hkv
// definitions: HEAD_STRIDE VALUE_STRIDE THREAD_ROWS THREAD_KEYS
// definitions: LANES TEAMS ROWS COLUMNS UNROLL_D UNROLL_KV

// --- section: kernel
${preamble}
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

${softmax}
${classify}
// Elements d to d + 3 of a row in f32; zeros behind the row's end.
template <int DIM>
__device__ __forceinline__ float4 load_four(const ${element}* row, const int d) {
  if (DIM % 4 == 0 && d < DIM) ${load_four}
  float4 four;
  four.x = d < DIM ? ${load_x} : 0.0f;
  four.y = d + 1 < DIM ? ${load_y} : 0.0f;
  four.z = d + 2 < DIM ? ${load_z} : 0.0f;
  four.w = d + 3 < DIM ? ${load_w} : 0.0f;
  return four;
}

// `rows` rows into shared memory in f32, `STRIDE` apart, with zeros behind each row and behind the last.
template <int DIM, int STRIDE>
__device__ __forceinline__ void load_rows(const ${element}* from, float* to, const int rows, const int rows_left) {
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
__device__ __forceinline__ void store_four(${element}* row, const int d, const float4 four) {
  if (VALUE_DIM % 4 == 0 && d < VALUE_DIM) {
    ${store_four}
    return;
  }
  if (d < VALUE_DIM) ${store_x}
  if (d + 1 < VALUE_DIM) ${store_y}
  if (d + 2 < VALUE_DIM) ${store_z}
  if (d + 3 < VALUE_DIM) ${store_w}
}

// A tile of BM queries of one head per block: TEAMS teams of LANES neighbouring lanes, each with THREAD_ROWS rows.
// Softmax is online: peak and total hold each row's largest score so far and a thread's share of the sum of its
// probabilities.
extern "C" __global__ __launch_bounds__(THREADS, 1)
${signature} {
  extern __shared__ __align__(16) float tiles[];
  float* queries = tiles;
  float* keys = queries + BM * HEAD_STRIDE;
  float* values = keys + BN * HEAD_STRIDE;
  float* probabilities = values + BN * VALUE_STRIDE;
  const int lane = (int)threadIdx.x % LANES, thread_row = (int)threadIdx.x / LANES, thread_key = lane;
  ${indices}
  ${bounds}

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
  for (int panel = ${first_needed}; panel < end_panel;
       panel = ${next_needed}) {
    const int first_key = panel * BN;
    __syncthreads();  // the last panel's values are used up
    load_rows<HEAD_DIM, HEAD_STRIDE>(K + (key_head * Skv + first_key) * HEAD_DIM, keys, BN, Skv - first_key);
    load_rows<VALUE_DIM, VALUE_STRIDE>(V + (key_head * Skv + first_key) * VALUE_DIM, values, BN, Skv - first_key);
    __syncthreads();

    float scores[THREAD_ROWS][THREAD_KEYS], highest[THREAD_ROWS], shrink[THREAD_ROWS];
    dot_products(queries + thread_row * HEAD_STRIDE, keys + lane * HEAD_STRIDE, scores);
    ${finish}
    ${online_softmax}
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
    ${sync_lanes};  // a row's probabilities are written and read by one team, which lies in one warp
    add_values(row_probabilities, values + 4 * lane, out);
  }

  #pragma unroll
  for (int r = 0; r < THREAD_ROWS; ++r) {
    const int row = first_row + thread_row + r * TEAMS;
    const float sum = over_lanes(total[r]);
    // A row whose keys were all masked has no probabilities, and its output is zero.
    const float factor = sum > 0.0f ? 1.0f / sum : 0.0f;
    if (row >= Sq) continue;
    ${element}* to = O + (query_head * Sq + row) * VALUE_DIM;
    #pragma unroll
    for (int j = 0; j < VALUE_TILE; ++j) {
      const float4 four = out[r][j];
      store_four(to, 4 * (lane + j * LANES),
                 make_float4(four.x * factor, four.y * factor, four.z * factor, four.w * factor));
    }
    ${store_lse}
  }
}

// --- section: store_pairs
*(${pair}*)(row + d) = ${pair_from_floats}(four.x, four.y);
*(${pair}*)(row + d + 2) = ${pair_from_floats}(four.z, four.w);

// --- section: load_pairs
{
  const float2 low = ${pair_to_floats}(*(const ${pair}*)(row + d));
  const float2 high = ${pair_to_floats}(*(const ${pair}*)(row + d + 2));
  return make_float4(low.x, low.y, high.x, high.y);
}

// What the styles on tensor cores share: the whole kernel but for its loop over the panels and the two products of a
// warp, scores = queries * keys and out = out * shrink + probabilities * values, which mma.cu and wgmma.cu have.
// operators/attention/kernels/cuda/tensor_cores.cpp fills the holes, and CudaAttention those of the parts of fused.cu.
//
// axes: Sq Skv Hq Hkv
// definitions: BLOCK_WARPS PANEL_KEYS HEAD_PAD HEAD_STRIDE VALUE_PAD VALUE_STRIDE
// definitions: BLOCK_N STAGES

// --- section: kernel
${preamble}
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
#define CHUNK (16 / (int)sizeof(${element}))

${softmax}
${classify}
${copies}

// Seldom after the first panels: most often no row of a warp has found a larger score.
__device__ __forceinline__ void shrink_sums(const float (&shrink)[2], float (&out)[VALUE_TILES][4]) {
  if (!__any_sync(ALL_LANES, shrink[0] != 1.0f || shrink[1] != 1.0f)) return;
  #pragma unroll
  for (int j = 0; j < VALUE_TILES; ++j)
    #pragma unroll
    for (int i = 0; i < 4; ++i) out[j][i] *= shrink[i / 2];
}

${products}
// ROWS rows into a tile, with zeros behind each row and behind the last. Rows that do not begin on 16 bytes are copied
// element by element, at once.
template <int ROWS, int DIM, int PAD, int STRIDE>
__device__ __forceinline__ void load_rows(const ${element}* from, ${element}* to, const int rows_left) {
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
    const ${element}* source = from + thread * CHUNK;
    #pragma unroll unrolled
    for (int r = 0; r < ROWS; r += step) {
      const int row = first + r;
      if (ROWS % step == 0 || row < ROWS) cp_async_16(to + ${chunk_offset}, source + r * DIM, 16);
    }
    return;
  }
  #pragma unroll 1
  for (int i = thread; i < ROWS * chunks; i += THREADS) {
    const int row = i / chunks, chunk = i % chunks, d = chunk * CHUNK;
    ${element}* target = to + ${chunk_offset};
    const bool inside = row < rows_left && d < DIM;
    if (DIM % CHUNK == 0) {
      cp_async_16(target, inside ? from + (long)row * DIM + d : from, inside ? 16 : 0);
    } else {
      #pragma unroll
      for (int e = 0; e < CHUNK; ++e)
        target[e] = inside && d + e < DIM ? from[(long)row * DIM + d + e] : ${zero};
    }
  }
}

// Two neighbouring elements of a row of the output, those of them that there are.
__device__ __forceinline__ void store_pair(${stored}* row, const int d, const float first, const float second) {
  if (VALUE_DIM % 2 == 0 && d < VALUE_DIM) {
    ${store_two}
    return;
  }
  if (d < VALUE_DIM) ${store_first}
  if (d + 1 < VALUE_DIM) ${store_second}
}

// A tile of BM queries of one head per block, 16 per warp. Keys and values pass through a ring of STAGES tiles that is
// filled ahead of their use. Softmax is online: peak and total hold each row's largest score so far and a thread's
// share of the sum of its probabilities.
extern "C" __global__ __launch_bounds__(THREADS, ${resident})
${signature} {
  extern __shared__ __align__(16) unsigned char shared_memory[];
  ${element}* queries = (${element}*)${tiles_begin};
  ${element}* keys = queries + BM * HEAD_STRIDE;
  ${element}* values = keys + STAGES * BN * HEAD_STRIDE;
  const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
  const int thread_row = 16 * warp + lane / 4, thread_key = 2 * (lane % 4);
  ${indices}
  ${bounds}
  ${part}
  const ${element}* head_keys = K + key_head * Skv * HEAD_DIM;
  const ${element}* head_values = V + key_head * Skv * VALUE_DIM;
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

  int panel = ${first_needed}, ahead = panel;
  load_rows<BM, HEAD_DIM, HEAD_PAD, HEAD_STRIDE>(Q + (query_head * Sq + first_row) * HEAD_DIM, queries,
                                                 ${rows} - first_row);
  float out[VALUE_TILES][4], peak[2] = {-INFINITY, -INFINITY}, total[2] = {0.0f, 0.0f};
  #pragma unroll
  for (int j = 0; j < VALUE_TILES; ++j)
    #pragma unroll
    for (int i = 0; i < 4; ++i) out[j][i] = 0.0f;
  ${loop}

  #pragma unroll
  for (int r = 0; r < 2; ++r) {
    const int row = first_row + thread_row + r * ROW_STEP;
    const float sum = over_lanes(total[r]);
    if (row >= ${rows}) continue;
    ${store_row}
    ${store_lse}
  }
}
${merge}

// --- section: store_row
// A row whose keys were all masked has no probabilities, and its output is zero.
const float factor = sum > 0.0f ? 1.0f / sum : 0.0f;
auto* to = O + (query_head * Sq + row) * VALUE_DIM;
#pragma unroll
for (int j = 0; j < VALUE_TILES; ++j)
  store_pair(to, 8 * j + thread_key, out[j][2 * r] * factor, out[j][2 * r + 1] * factor);

// --- section: store_part
const long place = (query_head * Sq + row) * parts + part;
if (sum > 0.0f) {
  #pragma unroll
  for (int j = 0; j < VALUE_TILES; ++j)
    store_pair(part_values + place * VALUE_DIM, 8 * j + thread_key, out[j][2 * r], out[j][2 * r + 1]);
}
if (thread_key == 0) *(float2*)(part_sums + 2 * place) = make_float2(peak[r], sum);

// What the mma style has of its own in the text of tensor_cores.cu: one panel after the other, with the instructions
// and products for f16 and bf16, or for f32 as two tf32 numbers each. operators/attention/kernels/cuda/mma.cpp fills the
// holes; element, type, pair and pair_from_floats are as in Cuda16BitFloat.
//
// definitions: QUERY_TILES
// definitions: WARPS Q_REGISTERS UNROLL_D

// --- section: loop
cp_async_commit();
#pragma unroll
for (int stage = 0; stage < STAGES - 1; ++stage) {
  if (ahead < ${end_panel}) {
    load_keys(ahead, stage);
    load_values(ahead, stage);
    ahead = ${next_ahead};
  }
  cp_async_commit();
}
${hold_query}

#pragma unroll 1
for (int stage = 0; panel < ${end_panel}; stage = stage + 1 < STAGES ? stage + 1 : 0) {
  const int first_key = panel * BN;
  cp_async_wait<STAGES - 2>();
  __syncthreads();  // the stage is filled for all, and the one before it is used up
  if (ahead < ${end_panel}) {
    const int free_stage = stage > 0 ? stage - 1 : STAGES - 1;
    load_keys(ahead, free_stage);
    load_values(ahead, free_stage);
    ahead = ${next_ahead};
  }
  cp_async_commit();

  float scores[SCORE_TILES][4], highest[2], shrink[2];
  ${dot_products}
  ${finish}
  ${online_softmax}
  add_values(scores, shrink, values + stage * BN * VALUE_STRIDE, lane, out);
  panel = ${next_needed};
}

// --- section: hold_query
// The queries were copied first; the tiles behind them may still be under way.
unsigned query[QUERY_TILES][4];
if (query_is_held) {
  cp_async_wait<STAGES - 1>();
  __syncthreads();
  #pragma unroll
  for (int k = 0; k < QUERY_TILES; ++k) load_query(queries, 16 * warp, lane, k, query[k]);
}

// --- section: load_matrices
__device__ __forceinline__ void ${function}(unsigned (&fragment)[4], const ${element}* row) {
#ifdef KW_SIM
  __kw_sim_ldmatrix_x4${sim_trans}(fragment, row);
#else
  const unsigned address = (unsigned)__cvta_generic_to_shared(row);
  asm volatile("ldmatrix.sync.aligned.m8n8.x4${trans}.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(fragment[0]), "=r"(fragment[1]), "=r"(fragment[2]), "=r"(fragment[3])
               : "r"(address)
               : "memory");
#endif
}

// --- section: products_16_bit
// Four 8 x 8 matrices of 16-bit elements; lanes 8 i to 8 i + 7 point to the rows of the i-th.
${load_matrices}
${load_transposed}
// d += a * b for 16 x 16 by 16 x 8, of which b is two registers of a fragment of four.
__device__ __forceinline__ void multiply_add(float (&d)[4], const unsigned (&a)[4], const unsigned b0,
                                             const unsigned b1) {
#ifdef KW_SIM
  const unsigned b[2] = {b0, b1};
  __kw_sim_mma_m16n8k16_${type}_f32(d, a, b);
#else
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.${type}.${type}.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#endif
}

__device__ __forceinline__ unsigned pack_halves(const float low, const float high) {
  const ${pair} pair = ${pair_from_floats}(low, high);
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
__device__ __forceinline__ void load_query(const ${element}* queries, const int first, const int lane, const int k,
                                           unsigned (&fragment)[4]) {
  load_matrices(fragment, queries + chunk_offset<HEAD_PAD, HEAD_STRIDE>(first + lane % 16, 2 * k + lane / 16));
}

// Of a warp's queries with all keys of a tile.
__device__ __forceinline__ void dot_products(unsigned (&query)[QUERY_TILES][4], const ${element}* queries,
                                             const int first, const ${element}* keys, const int lane,
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

// out = out * shrink + probabilities * values. The probabilities are rounded to ${type}; the accumulators of the scores
// are laid out as the left operand of the next product has to be.
__device__ __forceinline__ void add_values(const float (&probabilities)[SCORE_TILES][4], const float (&shrink)[2],
                                           const ${element}* values, const int lane, float (&out)[VALUE_TILES][4]) {
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

// --- section: products_f32
// Pragmas take constants, and definitions are not replaced in them.
constexpr int unroll_head = UNROLL_D;

${split_products}

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

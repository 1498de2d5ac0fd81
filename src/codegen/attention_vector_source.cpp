#include "codegen/attention_vector_source.hpp"

namespace kw {

const char* const k_attention_vector_source = R"(${comment}

#define LANES 16
#define PANEL_KEYS (LANES * PANELS)
#define BLOCK_VECTORS (BLOCK_KV / LANES)
// Columns of the output in float16s, split into equal passes of at most VALUE_TILE; rows of V are padded to fit.
#define VALUE_VECTORS ((VALUE_DIM + LANES - 1) / LANES)
#define VALUE_PASSES ((VALUE_VECTORS + VALUE_TILE - 1) / VALUE_TILE)
#define VALUE_STEP ((VALUE_VECTORS + VALUE_PASSES - 1) / VALUE_PASSES)
#define OUT_VECTORS (VALUE_PASSES * VALUE_STEP)
#define VALUE_STRIDE (OUT_VECTORS * LANES)
#define LOG2_E 1.44269504f
#define LANE_INDEX ((int16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))

${helpers}
${key_column}
${pack_comment}
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
${pack_signature} {
  const int first_key = get_group_id(0) * PANEL_KEYS;
  const long head = (long)get_group_id(2) * get_num_groups(1) + get_group_id(1);
  __global const ${element}* key = K + (head * Skv + first_key) * HEAD_DIM;
  __global float* panel = packed_keys + (head * get_num_groups(0) + get_group_id(0)) * (HEAD_DIM * PANEL_KEYS);
  for (int j = 0; j < PANELS; ++j) {
    const int keys_left = Skv - first_key - j * LANES;
    #pragma unroll 1
    for (int d = 0; d < HEAD_DIM; ++d)
      vstore16(key_column(key + j * LANES * HEAD_DIM + d, keys_left), j, panel + d * PANEL_KEYS);
  }
${if_values_packed}
  for (int k = first_key; k < min(first_key + PANEL_KEYS, Skv); ++k) {
    __global const ${element}* value = V + (head * Skv + k) * VALUE_DIM;
    __global float* padded = packed_values + (head * Skv + k) * VALUE_STRIDE;
    for (int d = 0; d < VALUE_STRIDE; ++d) padded[d] = d < VALUE_DIM ? ${value} : 0.0f;
  }
${end_values_packed}
}

${exp2_function}
static inline float largest(const float16 x) {
  const float8 a = max(x.lo, x.hi);
  const float4 b = max(a.lo, a.hi);
  const float2 c = max(b.lo, b.hi);
  return max(c.x, c.y);
}

static inline float sum_of(const float16 x) {
  const float8 a = x.lo + x.hi;
  const float4 b = a.lo + a.hi;
  const float2 c = b.lo + b.hi;
  return c.x + c.y;
}

// Dot products of ROWS queries with one panel of keys. The ROWS x PANELS accumulators live in registers, which is why
// these loops must unroll completely.
static inline void dot_products(${query_parameter}, __global const float* panel, float16* scores) {
  float16 acc[ROWS][PANELS];
  #pragma unroll
  for (int r = 0; r < ROWS; ++r)
    #pragma unroll
    for (int j = 0; j < PANELS; ++j) acc[r][j] = 0.0f;
  #pragma unroll UNROLL_D
  for (int d = 0; d < HEAD_DIM; ++d) {
    float16 key[PANELS];
    #pragma unroll
    for (int j = 0; j < PANELS; ++j) key[j] = vload16(j, panel + d * PANEL_KEYS);
    #pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      const float16 q = query[r][d];
      #pragma unroll
      for (int j = 0; j < PANELS; ++j) acc[r][j] = fma(q, key[j], acc[r][j]);
    }
  }
  #pragma unroll
  for (int r = 0; r < ROWS; ++r)
    #pragma unroll
    for (int j = 0; j < PANELS; ++j) scores[r * BLOCK_VECTORS + j] = acc[r][j];
}

${bound_functions}
${dropped_term}
// Makes one row's dot products with the keys from first_key on into scores in units of log2 and returns the largest.
// `masked` is a literal at every call, so each call is compiled for its case.
${finish_signature}
  float16 top = -INFINITY;
  ${row_statements}
  #pragma unroll 1
  for (int c = 0; c < vectors; ++c) {
    const int key = first_key + c * LANES;
    const int16 kv_idx = key + LANE_INDEX;
    ${element_statements}
    if (masked) s = select((float16)(-INFINITY), s, ${allowed});
    scores[c] = s;
    top = max(top, s);
  }
  return largest(top);
}

// Scores to weights 2^(score - base); returns their sum.
static inline float exponentiate(float16* scores, const int vectors, const float base) {
  float16 sum = 0.0f;
  #pragma unroll UNROLL_EXP
  for (int c = 0; c < vectors; ++c) {
    scores[c] = exp2_16(scores[c] - base);
    sum += scores[c];
  }
  return sum_of(sum);
}

// out += weights * values for VALUE_STEP columns of V and ROWS queries, again with all sums in registers.
static inline void add_values(const float* weights, __global const float* value, const int keys, float16* out) {
  float16 acc[ROWS][VALUE_STEP];
  #pragma unroll
  for (int r = 0; r < ROWS; ++r)
    #pragma unroll
    for (int j = 0; j < VALUE_STEP; ++j) acc[r][j] = out[r * OUT_VECTORS + j];
  #pragma unroll UNROLL_KV
  for (int k = 0; k < keys; ++k) {
    float16 v[VALUE_STEP];
    #pragma unroll
    for (int j = 0; j < VALUE_STEP; ++j) v[j] = vload16(j, value + (long)k * VALUE_STRIDE);
    #pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      const float16 weight = weights[r * BLOCK_KV + k];
      #pragma unroll
      for (int j = 0; j < VALUE_STEP; ++j) acc[r][j] = fma(weight, v[j], acc[r][j]);
    }
  }
  #pragma unroll
  for (int r = 0; r < ROWS; ++r)
    #pragma unroll
    for (int j = 0; j < VALUE_STEP; ++j) out[r * OUT_VECTORS + j] = acc[r][j];
}

static inline void store_row(__global ${element}* to, const float16* row, const float factor) {
${store_elements}
}

${classify}
// ROW_TILES tiles of ROWS queries of one head per work-group, so that a block of keys and values is read from the cache
// once for all of them. Softmax is online: peak and total hold each row's largest score and sum of weights so far.
__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
${attention_signature} {
${values}
  const int h = get_group_id(1), b = get_group_id(2);
  const long query_head = (long)b * Hq + h;
  const long key_head = (long)b * Hkv + h / (Hq / Hkv);
  const int panels = (Skv + PANEL_KEYS - 1) / PANEL_KEYS;
  const int first_row = get_group_id(0) * (ROWS * ROW_TILES);
  const int tiles = min(ROW_TILES, (Sq - first_row + ROWS - 1) / ROWS);
  ${group_statements}

  float16 scores[ROWS * BLOCK_VECTORS];
  float16 out[ROW_TILES][ROWS * OUT_VECTORS];
  float peak[ROW_TILES][ROWS], total[ROW_TILES][ROWS];
  for (int t = 0; t < tiles; ++t)
    for (int r = 0; r < ROWS; ++r) {
      peak[t][r] = -INFINITY;
      total[t][r] = 0.0f;
      for (int j = 0; j < OUT_VECTORS; ++j) out[t][r * OUT_VECTORS + j] = 0.0f;
    }
  ${bounds}
  for (int block = ${first_block}; block <= ${last_key}; block += BLOCK_KV)${open_block}
    ${columns}
    for (int t = 0; t < tiles; ++t) {
      ${tile_scores}

      #pragma unroll 1
      for (int r = 0; r < ROWS; ++r) {
        float16* row_scores = scores + r * BLOCK_VECTORS;
        const int q_idx = min(tile_row + r, Sq - 1);
        ${row_range}
        ${finish_call}
        ${rescale_comment}
        if (${rescale_condition}) {
          const float shrink = exp2(peak[t][r] - highest);
          peak[t][r] = highest;
          total[t][r] *= shrink;
          for (int j = 0; j < OUT_VECTORS; ++j) out[t][r * OUT_VECTORS + j] *= shrink;
        }
        // While every key so far is masked the peak is -inf, and -inf - -inf would be NaN.
        const float base = peak[t][r] == -INFINITY ? 0.0f : peak[t][r];
        total[t][r] += exponentiate(row_scores, vectors, base);
      }
      ${tile_values}
    }
  ${close_block}

  for (int row = first_row; row < min(first_row + tiles * ROWS, Sq); ++row) {
    const int t = (row - first_row) / ROWS, r = (row - first_row) % ROWS;
    // A row whose keys were all masked has no weights, and its output is zero.
    const float factor = total[t][r] > 0.0f ? 1.0f / total[t][r] : 0.0f;
    store_row(O + (query_head * Sq + row) * VALUE_DIM, out[t] + r * OUT_VECTORS, factor);
    ${store_lse}
  }
}
)";

const char* const k_key_column_f32 = R"(// Element d of sixteen neighbouring keys; zeros past the last key.
static inline float16 key_column(__global const float* key, const int keys_left) {
  if (keys_left >= LANES)
    return (float16)(key[0], key[HEAD_DIM], key[2 * HEAD_DIM], key[3 * HEAD_DIM], key[4 * HEAD_DIM],
                     key[5 * HEAD_DIM], key[6 * HEAD_DIM], key[7 * HEAD_DIM], key[8 * HEAD_DIM], key[9 * HEAD_DIM],
                     key[10 * HEAD_DIM], key[11 * HEAD_DIM], key[12 * HEAD_DIM], key[13 * HEAD_DIM],
                     key[14 * HEAD_DIM], key[15 * HEAD_DIM]);
  float column[LANES];
  for (int i = 0; i < LANES; ++i) column[i] = i < keys_left ? key[i * HEAD_DIM] : 0.0f;
  return vload16(0, column);
}
)";

const char* const k_key_column_16_bit = R"(// Element d of sixteen neighbouring keys, in f32; zeros past the last key.
static inline float16 key_column(__global const ${element}* key, const int keys_left) {
  float column[LANES];
  for (int i = 0; i < LANES; ++i) column[i] = i < keys_left ? ${key} : 0.0f;
  return vload16(0, column);
}
)";

const char* const k_store_row_f32 =
    R"(  for (int j = 0; j < VALUE_DIM / LANES; ++j) vstore16(row[j] * factor, j, to);
#if VALUE_DIM % LANES != 0
  const float* tail = (const float*)row;
  for (int d = VALUE_DIM / LANES * LANES; d < VALUE_DIM; ++d) to[d] = tail[d] * factor;
#endif)";

// PoCL 3.1 lets vstore_half16 fault on addresses that are no multiple of 32 bytes, which rows of other lengths have.
const char* const k_store_row_f16 = R"(#if VALUE_DIM % LANES == 0
  for (int j = 0; j < VALUE_DIM / LANES; ++j) vstore_half16_rte(row[j] * factor, j, to);
#else
  const float* elements = (const float*)row;
  for (int d = 0; d < VALUE_DIM; ++d) vstore_half_rte(elements[d] * factor, d, to);
#endif)";

const char* const k_store_row_bf16 =
    R"(  for (int j = 0; j < VALUE_DIM / LANES; ++j) vstore16(to_bf16_16(row[j] * factor), j, to);
#if VALUE_DIM % LANES != 0
  const float* tail = (const float*)row;
  for (int d = VALUE_DIM / LANES * LANES; d < VALUE_DIM; ++d) to[d] = to_bf16(tail[d] * factor);
#endif)";

const char* const k_scores_of_all_keys = R"(${tile_range}
const int vectors = (end - begin + PANEL_KEYS - 1) / PANEL_KEYS * PANELS;
const int tile_row = first_row + t * ROWS;
${query_rows}
__global const float* panel = packed_keys + (key_head * panels + begin / PANEL_KEYS) * (HEAD_DIM * PANEL_KEYS);
#pragma unroll 1
for (int c = 0; c < vectors; c += PANELS, panel += HEAD_DIM * PANEL_KEYS) dot_products(query, panel, scores + c);)";

const char* const k_values_of_all_keys =
    R"(__global const float* value = values + (key_head * Skv + begin) * VALUE_STRIDE;
#pragma unroll 1
for (int j = 0; j < OUT_VECTORS; j += VALUE_STEP)
  add_values((const float*)scores, value + j * LANES, end - begin, out[t] + j);)";

const char* const k_scores_of_mapped_keys =
    R"(// The panels that the tile needs, as runs of neighbours that are masked alike.
int run_first[BLOCK_PANELS], run_end[BLOCK_PANELS], run_masked[BLOCK_PANELS], runs = 0;
for (int p = block / PANEL_KEYS; p < min(block / PANEL_KEYS + BLOCK_PANELS, panels); ++p) {
  const int code = codes[${tile_codes}p];
  if (code == NO_KEY) continue;
  const int masked = code == SOME_KEYS;
  if (runs == 0 || run_end[runs - 1] != p || run_masked[runs - 1] != masked) {
    run_first[runs] = p;
    run_masked[runs] = masked;
    ++runs;
  }
  run_end[runs - 1] = p + 1;
}
if (runs == 0) continue;
${late_columns}
const int tile_row = first_row + t * ROWS;
${query_rows}
int vectors = 0;
#pragma unroll 1
for (int run = 0; run < runs; ++run)
  #pragma unroll 1
  for (int p = run_first[run]; p < run_end[run]; ++p, vectors += PANELS)
    dot_products(query, packed_keys + (key_head * panels + p) * (HEAD_DIM * PANEL_KEYS), scores + vectors);)";

const char* const k_values_of_mapped_keys = R"(const float* weights = (const float*)scores;
for (int run = 0; run < runs; ++run) {
  const int begin = run_first[run] * PANEL_KEYS, end = run_end[run] * PANEL_KEYS;
  __global const float* value = values + (key_head * Skv + begin) * VALUE_STRIDE;
  #pragma unroll 1
  for (int j = 0; j < OUT_VECTORS; j += VALUE_STEP)
    add_values(weights, value + j * LANES, min(end, Skv) - begin, out[t] + j);
  weights += end - begin;
})";

const char* const k_classify_source = R"(${map_comment}
#define BLOCK_PANELS (BLOCK_KV / PANEL_KEYS)
#define NO_KEY 0
#define SOME_KEYS 1
#define EVERY_KEY 2

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
${signature} {
  ${indices}
  const int panels = (Skv + PANEL_KEYS - 1) / PANEL_KEYS;
  const long tile = ((long)get_group_id(2) * get_num_groups(1) + get_group_id(1)) * get_num_groups(0) + get_group_id(0);
  __global int* codes = block_map + tile * panels;
  ${group_statements}
  ${column_declarations}
  for (int block = 0; block < Skv; block += BLOCK_KV) {
    const int vectors = (min(BLOCK_KV, Skv - block) + PANEL_KEYS - 1) / PANEL_KEYS * PANELS;
    ${column_loop}
    int16 some[BLOCK_PANELS], every[BLOCK_PANELS];
    for (int p = 0; p < BLOCK_PANELS; ++p) {
      some[p] = 0;
      every[p] = -1;
    }
    ${row_loop}
      ${query_index}
      ${row_statements}
      #pragma unroll 1
      for (int c = 0; c < vectors; ++c) {
        const int key = block + c * LANES;
        const int16 kv_idx = key + LANE_INDEX;
        ${element_statements}
        const int16 allowed = ${allowed} & (kv_idx < Skv);
        some[c / PANELS] |= allowed;
        every[c / PANELS] &= allowed;
      }
    }
    for (int p = 0; p < vectors / PANELS; ++p)
      codes[block / PANEL_KEYS + p] = all(every[p]) ? EVERY_KEY : any(some[p]) ? SOME_KEYS : NO_KEY;
  }
}
)";

}  // namespace kw

// Attention for CPUs with wide vectors, in OpenCL C. operators/attention/kernels/opencl/vector.cpp fills the holes.
// Section "kernels" is the whole; the others go into its holes, by the problem's type, mask and structural choices.
//
// axes: Sq Skv Hq Hkv
// definitions: HEAD_DIM VALUE_DIM
// definitions: BLOCK_KV PANELS ROWS ROW_TILES UNROLL_D UNROLL_EXP UNROLL_KV VALUE_TILE

// --- section: kernels
${comment}

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
// Makes one row's dot products with the keys from first_key on into scores in ${units} and returns the largest.
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

// Scores to probabilities ${base_number}^(score - base); returns their sum.
static inline float exponentiate(float16* scores, const int vectors, const float base) {
  float16 sum = 0.0f;
  #pragma unroll UNROLL_EXP
  for (int c = 0; c < vectors; ++c) {
    scores[c] = exp2_16(${exponent});
    sum += scores[c];
  }
  return sum_of(sum);
}

// out += probabilities * values for VALUE_STEP columns of V and ROWS queries, again with all sums in registers.
static inline void add_values(const float* probabilities, __global const float* value, const int keys, float16* out) {
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
      const float16 probability = probabilities[r * BLOCK_KV + k];
      #pragma unroll
      for (int j = 0; j < VALUE_STEP; ++j) acc[r][j] = fma(probability, v[j], acc[r][j]);
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
// once for all of them. Softmax is online: peak and total hold each row's largest score and sum of probabilities so
// far.
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
          const float shrink = exp2(${shrink_exponent});
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
    // A row whose keys were all masked has no probabilities, and its output is zero.
    const float factor = total[t][r] > 0.0f ? 1.0f / total[t][r] : 0.0f;
    store_row(O + (query_head * Sq + row) * VALUE_DIM, out[t] + r * OUT_VECTORS, factor);
    ${store_lse}
  }
}

// --- section: key_column_f32
// Element d of sixteen neighbouring keys; zeros past the last key.
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

// --- section: key_column_16_bit
// Element d of sixteen neighbouring keys, in f32; zeros past the last key.
static inline float16 key_column(__global const ${element}* key, const int keys_left) {
  float column[LANES];
  for (int i = 0; i < LANES; ++i) column[i] = i < keys_left ? ${key} : 0.0f;
  return vload16(0, column);
}

// --- section: store_row_f32
  for (int j = 0; j < VALUE_DIM / LANES; ++j) vstore16(row[j] * factor, j, to);
#if VALUE_DIM % LANES != 0
  const float* tail = (const float*)row;
  for (int d = VALUE_DIM / LANES * LANES; d < VALUE_DIM; ++d) to[d] = tail[d] * factor;
#endif

// --- section: store_row_f16
// --- PoCL 3.1 lets vstore_half16 fault on addresses that are no multiple of 32 bytes, which rows of other lengths have.
#if VALUE_DIM % LANES == 0
  for (int j = 0; j < VALUE_DIM / LANES; ++j) vstore_half16_rte(row[j] * factor, j, to);
#else
  const float* elements = (const float*)row;
  for (int d = 0; d < VALUE_DIM; ++d) vstore_half_rte(elements[d] * factor, d, to);
#endif

// --- section: store_row_bf16
  for (int j = 0; j < VALUE_DIM / LANES; ++j) vstore16(to_bf16_16(row[j] * factor), j, to);
#if VALUE_DIM % LANES != 0
  const float* tail = (const float*)row;
  for (int d = VALUE_DIM / LANES * LANES; d < VALUE_DIM; ++d) to[d] = to_bf16(tail[d] * factor);
#endif

// --- section: scores_of_all_keys
${tile_range}
const int vectors = (end - begin + PANEL_KEYS - 1) / PANEL_KEYS * PANELS;
const int tile_row = first_row + t * ROWS;
${query_rows}
__global const float* panel = packed_keys + (key_head * panels + begin / PANEL_KEYS) * (HEAD_DIM * PANEL_KEYS);
#pragma unroll 1
for (int c = 0; c < vectors; c += PANELS, panel += HEAD_DIM * PANEL_KEYS) dot_products(query, panel, scores + c);

// --- section: values_of_all_keys
__global const float* value = values + (key_head * Skv + begin) * VALUE_STRIDE;
#pragma unroll 1
for (int j = 0; j < OUT_VECTORS; j += VALUE_STEP)
  add_values((const float*)scores, value + j * LANES, end - begin, out[t] + j);

// --- section: scores_of_mapped_keys
// The panels that the tile needs, as runs of neighbours that are masked alike.
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
    dot_products(query, packed_keys + (key_head * panels + p) * (HEAD_DIM * PANEL_KEYS), scores + vectors);

// --- section: values_of_mapped_keys
const float* probabilities = (const float*)scores;
for (int run = 0; run < runs; ++run) {
  const int begin = run_first[run] * PANEL_KEYS, end = run_end[run] * PANEL_KEYS;
  __global const float* value = values + (key_head * Skv + begin) * VALUE_STRIDE;
  #pragma unroll 1
  for (int j = 0; j < OUT_VECTORS; j += VALUE_STEP)
    add_values(probabilities, value + j * LANES, min(end, Skv) - begin, out[t] + j);
  probabilities += end - begin;
}

// --- section: exp2_16_built_in
static inline float16 exp2_16(const float16 x) { return exp2(x); }

// --- section: exp2_16
// 2^x for x up to 127: x = n + f with |f| <= 1/2, a polynomial for 2^f, and n added to its exponent. Adding 1.5 *
// 2^23 rounds x to n and leaves n in the low bits. From -127 down the result is exactly 0: masked scores (-inf)
// count for nothing. Not to be compiled with fast-math, which would cancel the rounding.
static inline float16 exp2_16(float16 x) {
  x = max(x, (float16)(-127.0f));
  const float16 rounded = x + 12582912.0f;
  const float16 f = x - (rounded - 12582912.0f);
  ${polynomial}
  return as_float16(as_int16(p) + (as_int16(rounded) << 23));
}

// --- section: row_bounds
// Keys each row may attend to, and the union of that over each tile and over the work-group.
int row_first[ROW_TILES][ROWS], row_last[ROW_TILES][ROWS], tile_first[ROW_TILES], tile_last[ROW_TILES];
int group_first = Skv, group_last = -1;
for (int t = 0; t < tiles; ++t) {
  tile_first[t] = Skv;
  tile_last[t] = -1;
  for (int r = 0; r < ROWS; ++r) {
    const int q_idx = min(first_row + t * ROWS + r, Sq - 1);
    ${first_allowed}
    ${last_allowed}
    if (row_first[t][r] > row_last[t][r]) continue;
    tile_first[t] = min(tile_first[t], row_first[t][r]);
    tile_last[t] = max(tile_last[t], row_last[t][r]);
  }
  group_first = min(group_first, tile_first[t]);
  group_last = max(group_last, tile_last[t]);
}

// --- section: query_rows_16_bit
// Rows past the last one repeat it; they are computed and not stored.
float query[ROWS][HEAD_DIM];
for (int r = 0; r < ROWS; ++r) {
  __global const ${element}* row = Q + (query_head * Sq + min(tile_row + r, Sq - 1)) * HEAD_DIM;
  for (int d = 0; d < HEAD_DIM; ++d) query[r][d] = ${query};
}

// --- section: query_rows_f32
// Rows past the last one repeat it; they are computed and not stored.
__global const float* query[ROWS];
#pragma unroll
for (int r = 0; r < ROWS; ++r) query[r] = Q + (query_head * Sq + min(tile_row + r, Sq - 1)) * HEAD_DIM;

// --- section: tile_range_bounded
const int begin = max(block, tile_first[t] / PANEL_KEYS * PANEL_KEYS);
const int end = min(block + BLOCK_KV, tile_last[t] + 1);
if (begin >= end) continue;

// --- section: tile_range
const int begin = block, end = min(block + BLOCK_KV, Skv);

// --- section: column_loop
for (int c = 0; c < ${vectors}; ++c) {
  const int key = block + c * LANES;
  const int16 kv_idx = key + LANE_INDEX;
  ${statements}
  ${stores}
}

// --- section: late_columns
if (!columns_ready) {
  ${loop}
  columns_ready = 1;
}

// --- section: finish_masked
// --- A row's scores of the whole block, with the mask.
const float highest =
    ${masked};

// --- section: finish_all
// --- The same where the mask is an interval of keys.
const int all_allowed = allowed_first <= begin && begin + vectors * LANES - 1 <= allowed_last;
const float highest = all_allowed
    ? ${plain}
    : ${masked};

// --- section: finish_runs
// --- The same run by run of mapped panels, and only where the map says so with the mask.
float highest = -INFINITY;
for (int run = 0, c = 0; run < runs; ++run) {
  const int begin = run_first[run] * PANEL_KEYS, count = (run_end[run] - run_first[run]) * PANELS;
  const float of_run = run_masked[run]
    ? ${masked}
    : ${plain};
  highest = max(highest, of_run);
  c += count;
}

// --- section: pack_comment_16_bit
// Keys as panels [head][panel][HEAD_DIM][PANEL_KEYS], so that the score loop reads memory in order; and V in f32 with
// its rows padded to whole float16s. One panel per work-group.

// --- section: pack_comment_f32
// Keys as panels [head][panel][HEAD_DIM][PANEL_KEYS], so that the score loop reads memory in order; and V with its rows
// padded to whole float16s where they are not. One panel per work-group.

// --- section: values_16_bit
  __global const float* values = packed_values;

// --- section: values_f32
#if VALUE_STRIDE != VALUE_DIM
  __global const float* values = packed_values;
#else
  __global const float* values = V;
#endif

// --- section: lazy_rescale
// Probabilities may grow to 2^8 before the sums are rescaled: total and out share the base,
// so any base near the peak gives the same quotient.

// --- section: store_lse
// Peak and total are in ${units}.
${anchor}
LSE[query_head * Sq + row] = total[t][r] > 0.0f
    ? ${log_of_sum}
    ${dropped}
    : -INFINITY;

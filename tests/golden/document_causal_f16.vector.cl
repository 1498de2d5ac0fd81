/*kernelwright
format      = 1
target      = "opencl"
problem     = "attention/document_causal_f16"
generator   = "vector 2"
constraints = ["BLOCK_KV % (16 * PANELS) == 0", "(ROWS + 1) * PANELS + 1 <= 32",
               "(ROWS + 1) * VALUE_TILE + 1 <= 32", "ROWS * BLOCK_KV <= 8192", "ROWS * ROW_TILES <= 96"]

[tunables]
ROWS       = {values = [1, 2, 3, 4, 5, 6, 8, 10, 12, 14], default = 4}
PANELS     = {values = [1, 2, 3, 4, 6], default = 4}
VALUE_TILE = {values = [1, 2, 3, 4, 5, 6], default = 4}
BLOCK_KV   = {values = [96, 128, 192, 256, 384, 512, 768, 1024], default = 512}
ROW_TILES  = {values = [1, 2, 3, 4, 6, 8, 16], default = 4}
UNROLL_D   = {values = [1, 2, 4], default = 1}
UNROLL_KV  = {values = [1, 2, 4], default = 1}
UNROLL_EXP = {values = [1, 2, 4], default = 1}

[defines]
HEAD_DIM  = "D"
VALUE_DIM = "Dv"

[scratch]
packed_keys   = {dtype = "f32", elements = "B * Hkv * D * round_up(Skv, 16 * PANELS)"}
packed_values = {dtype = "f32", elements = "B * Hkv * Skv * 16 * ceil_div(ceil_div(Dv, 16), VALUE_TILE) * ceil_div(ceil_div(Dv, 16), ceil_div(ceil_div(Dv, 16), VALUE_TILE))"}

[[launch]]
kernel = "pack"
grid   = ["ceil_div(Skv, 16 * PANELS)", "Hkv", "B"]
block  = ["1", "1", "1"]
args   = ["K", "V", "packed_keys", "packed_values", "Skv"]

[[launch]]
kernel = "attention"
grid   = ["ceil_div(Sq, ROWS * ROW_TILES)", "Hq", "B"]
block  = ["1", "1", "1"]
args   = ["Q", "packed_keys", "packed_values", "document_id", "O", "Sq", "Skv", "Hq", "Hkv"]
*/
// attention/document_causal_f16: Causal attention within packed documents, stored in f16.
// Written by kernelwright, generator "vector 2".
//
// mask_mod:
// def document_causal(b, h, q_idx, kv_idx):
//     same_document = document_id[q_idx] == document_id[kv_idx]
//     q_logical = q_idx - offsets[document_id[q_idx]]
//     kv_logical = kv_idx - offsets[document_id[kv_idx]]
//     return same_document & (q_logical >= kv_logical)
//
// How: K is packed into panels of 16 * PANELS columns. A work-group takes ROW_TILES tiles of ROWS queries through
// the keys in blocks of BLOCK_KV with an online softmax; dot products and weighted sums are register tiles.
// The mask allows an interval of keys per row: blocks outside it are never touched, and only
// the interval's ends are masked.

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

// How many elements of a sorted row are less than a value.
static inline int lower_bound_i32(__global const int* row, const int extent, const int value) {
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
static inline int upper_bound_i32(__global const int* row, const int extent, const int value) {
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

// Element d of sixteen neighbouring keys, in f32; zeros past the last key.
static inline float16 key_column(__global const half* key, const int keys_left) {
  float column[LANES];
  for (int i = 0; i < LANES; ++i) column[i] = i < keys_left ? vload_half(i * HEAD_DIM, key) : 0.0f;
  return vload16(0, column);
}

// Keys as panels [head][panel][HEAD_DIM][PANEL_KEYS], so that the score loop reads memory in order; and V in f32 with
// its rows padded to whole float16s. One panel per work-group.
static __attribute__((noinline))  // PoCL compiles a kernel three times, and what it calls once
void pack_group(__global const half* restrict K, __global const half* restrict V,
                __global float* restrict packed_keys, __global float* restrict packed_values, const int Skv,
                const long group_x, const long group_y, const long group_z, const long groups_x,
                const long groups_y) {
  const int first_key = group_x * PANEL_KEYS;
  const long head = (long)group_z * groups_y + group_y;
  __global const half* key = K + (head * Skv + first_key) * HEAD_DIM;
  __global float* panel = packed_keys + (head * groups_x + group_x) * (HEAD_DIM * PANEL_KEYS);
  for (int j = 0; j < PANELS; ++j) {
    const int keys_left = Skv - first_key - j * LANES;
    #pragma unroll 1
    for (int d = 0; d < HEAD_DIM; ++d)
      vstore16(key_column(key + j * LANES * HEAD_DIM + d, keys_left), j, panel + d * PANEL_KEYS);
  }
  for (int k = first_key; k < min(first_key + PANEL_KEYS, Skv); ++k) {
    __global const half* value = V + (head * Skv + k) * VALUE_DIM;
    __global float* padded = packed_values + (head * Skv + k) * VALUE_STRIDE;
    for (int d = 0; d < VALUE_STRIDE; ++d) padded[d] = d < VALUE_DIM ? vload_half(d, value) : 0.0f;
  }
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void pack(__global const half* restrict K, __global const half* restrict V, __global float* restrict packed_keys,
          __global float* restrict packed_values, const int Skv) {
  pack_group(K, V, packed_keys, packed_values, Skv, get_group_id(0), get_group_id(1), get_group_id(2),
             get_num_groups(0), get_num_groups(1));
}

// 2^x for x up to 127: x = n + f with |f| <= 1/2, a polynomial for 2^f, and n added to its exponent. Adding 1.5 *
// 2^23 rounds x to n and leaves n in the low bits. From -127 down the result is exactly 0: masked scores (-inf)
// count for nothing. Not to be compiled with fast-math, which would cancel the rounding.
static inline float16 exp2_16(float16 x) {
  x = max(x, (float16)(-127.0f));
  const float16 rounded = x + 12582912.0f;
  const float16 f = x - (rounded - 12582912.0f);
  float16 p = 1.32647518e-3f;
  p = fma(p, f, (float16)(9.67151206e-3f));
  p = fma(p, f, (float16)(5.55073358e-2f));
  p = fma(p, f, (float16)(0.240222424f));
  p = fma(p, f, (float16)(0.693147004f));
  p = fma(p, f, (float16)(1.0f));
  return as_float16(as_int16(p) + (as_int16(rounded) << 23));
}

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
static inline void dot_products(const float (*query)[HEAD_DIM], __global const float* panel, float16* scores) {
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

// The mask allows exactly the keys from first_allowed to last_allowed; none if first is after last.
static inline int first_allowed(const int b, const int h, const int q_idx,
                                __global const int* restrict document_id, const int Skv) {
  const int t1 = lower_bound_i32(document_id, Skv, document_id[min(q_idx, Skv - 1)]);
  return max(t1, 0);
}
static inline int last_allowed(const int b, const int h, const int q_idx,
                               __global const int* restrict document_id, const int Skv) {
  const int t1 = upper_bound_i32(document_id, Skv, document_id[min(q_idx, Skv - 1)]);
  return min(q_idx, min(t1 - 1, Skv - 1));
}

// Makes one row's dot products with the keys from first_key on into scores in units of log2 and returns the largest.
// `masked` is a literal at every call, so each call is compiled for its case.
static inline float finish_scores(float16* scores, const int vectors, const int first_key, const int masked,
                                  const int allowed_first, const int allowed_last, const int q_idx,
                                  const float scale) {
  float16 top = -INFINITY;
  #pragma unroll 1
  for (int c = 0; c < vectors; ++c) {
    const int key = first_key + c * LANES;
    const int16 kv_idx = key + LANE_INDEX;
    float16 s = scores[c] * scale;
    if (masked) s = select((float16)(-INFINITY), s, (kv_idx >= allowed_first) & (kv_idx <= allowed_last));
    scores[c] = s;
    top = max(top, s);
  }
  return largest(top);
}

// Scores to probabilities 2^(score - base); returns their sum.
static inline float exponentiate(float16* scores, const int vectors, const float base) {
  float16 sum = 0.0f;
  #pragma unroll UNROLL_EXP
  for (int c = 0; c < vectors; ++c) {
    scores[c] = exp2_16(scores[c] - base);
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

static inline void store_row(__global half* to, const float16* row, const float factor) {
#if VALUE_DIM % LANES == 0
  for (int j = 0; j < VALUE_DIM / LANES; ++j) vstore_half16_rte(row[j] * factor, j, to);
#else
  const float* elements = (const float*)row;
  for (int d = 0; d < VALUE_DIM; ++d) vstore_half_rte(elements[d] * factor, d, to);
#endif
}

// ROW_TILES tiles of ROWS queries of one head per work-group, so that a block of keys and values is read from the cache
// once for all of them. Softmax is online: peak and total hold each row's largest score and sum of probabilities so
// far.
static __attribute__((noinline))  // PoCL compiles a kernel three times, and what it calls once
void attention_group(__global const half* restrict Q, __global const float* restrict packed_keys,
                     __global const float* restrict packed_values, __global const int* restrict document_id,
                     __global half* restrict O, const int Sq, const int Skv, const int Hq, const int Hkv,
                     const long group_x, const long group_y, const long group_z) {
  __global const float* values = packed_values;
  const int h = group_y, b = group_z;
  const long query_head = (long)b * Hq + h;
  const long key_head = (long)b * Hkv + h / (Hq / Hkv);
  const int panels = (Skv + PANEL_KEYS - 1) / PANEL_KEYS;
  const int first_row = group_x * (ROWS * ROW_TILES);
  const int tiles = min(ROW_TILES, (Sq - first_row + ROWS - 1) / ROWS);
  const float scale = LOG2_E * (1.0f / sqrt((float)HEAD_DIM));

  float16 scores[ROWS * BLOCK_VECTORS];
  float16 out[ROW_TILES][ROWS * OUT_VECTORS];
  float peak[ROW_TILES][ROWS], total[ROW_TILES][ROWS];
  for (int t = 0; t < tiles; ++t)
    for (int r = 0; r < ROWS; ++r) {
      peak[t][r] = -INFINITY;
      total[t][r] = 0.0f;
      for (int j = 0; j < OUT_VECTORS; ++j) out[t][r * OUT_VECTORS + j] = 0.0f;
    }
  
  // Keys each row may attend to, and the union of that over each tile and over the work-group.
  int row_first[ROW_TILES][ROWS], row_last[ROW_TILES][ROWS], tile_first[ROW_TILES], tile_last[ROW_TILES];
  int group_first = Skv, group_last = -1;
  for (int t = 0; t < tiles; ++t) {
    tile_first[t] = Skv;
    tile_last[t] = -1;
    for (int r = 0; r < ROWS; ++r) {
      const int q_idx = min(first_row + t * ROWS + r, Sq - 1);
      row_first[t][r] = first_allowed(b, h, q_idx, document_id, Skv);
      row_last[t][r] = last_allowed(b, h, q_idx, document_id, Skv);
      if (row_first[t][r] > row_last[t][r]) continue;
      tile_first[t] = min(tile_first[t], row_first[t][r]);
      tile_last[t] = max(tile_last[t], row_last[t][r]);
    }
    group_first = min(group_first, tile_first[t]);
    group_last = max(group_last, tile_last[t]);
  }
  for (int block = group_first / BLOCK_KV * BLOCK_KV; block <= group_last; block += BLOCK_KV)
    for (int t = 0; t < tiles; ++t) {
      const int begin = max(block, tile_first[t] / PANEL_KEYS * PANEL_KEYS);
      const int end = min(block + BLOCK_KV, tile_last[t] + 1);
      if (begin >= end) continue;
      const int vectors = (end - begin + PANEL_KEYS - 1) / PANEL_KEYS * PANELS;
      const int tile_row = first_row + t * ROWS;
      // Rows past the last one repeat it; they are computed and not stored.
      float query[ROWS][HEAD_DIM];
      for (int r = 0; r < ROWS; ++r) {
        __global const half* row = Q + (query_head * Sq + min(tile_row + r, Sq - 1)) * HEAD_DIM;
        for (int d = 0; d < HEAD_DIM; ++d) query[r][d] = vload_half(d, row);
      }
      __global const float* panel = packed_keys + (key_head * panels + begin / PANEL_KEYS) * (HEAD_DIM * PANEL_KEYS);
      #pragma unroll 1
      for (int c = 0; c < vectors; c += PANELS, panel += HEAD_DIM * PANEL_KEYS) dot_products(query, panel, scores + c);

      #pragma unroll 1
      for (int r = 0; r < ROWS; ++r) {
        float16* row_scores = scores + r * BLOCK_VECTORS;
        const int q_idx = min(tile_row + r, Sq - 1);
        const int allowed_first = row_first[t][r], allowed_last = row_last[t][r];
        const int all_allowed = allowed_first <= begin && begin + vectors * LANES - 1 <= allowed_last;
        const float highest = all_allowed
            ? finish_scores(row_scores, vectors, begin, 0, allowed_first, allowed_last,
                            q_idx, scale)
            : finish_scores(row_scores, vectors, begin, 1, allowed_first, allowed_last,
                            q_idx, scale);
        if (highest > peak[t][r]) {
          const float shrink = exp2(peak[t][r] - highest);
          peak[t][r] = highest;
          total[t][r] *= shrink;
          for (int j = 0; j < OUT_VECTORS; ++j) out[t][r * OUT_VECTORS + j] *= shrink;
        }
        // While every key so far is masked the peak is -inf, and -inf - -inf would be NaN.
        const float base = peak[t][r] == -INFINITY ? 0.0f : peak[t][r];
        total[t][r] += exponentiate(row_scores, vectors, base);
      }
      __global const float* value = values + (key_head * Skv + begin) * VALUE_STRIDE;
      #pragma unroll 1
      for (int j = 0; j < OUT_VECTORS; j += VALUE_STEP)
        add_values((const float*)scores, value + j * LANES, end - begin, out[t] + j);
    }

  for (int row = first_row; row < min(first_row + tiles * ROWS, Sq); ++row) {
    const int t = (row - first_row) / ROWS, r = (row - first_row) % ROWS;
    // A row whose keys were all masked has no probabilities, and its output is zero.
    const float factor = total[t][r] > 0.0f ? 1.0f / total[t][r] : 0.0f;
    store_row(O + (query_head * Sq + row) * VALUE_DIM, out[t] + r * OUT_VECTORS, factor);
  }
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void attention(__global const half* restrict Q, __global const float* restrict packed_keys,
               __global const float* restrict packed_values, __global const int* restrict document_id,
               __global half* restrict O, const int Sq, const int Skv, const int Hq, const int Hkv) {
  attention_group(Q, packed_keys, packed_values, document_id, O, Sq, Skv, Hq, Hkv, get_group_id(0),
                  get_group_id(1), get_group_id(2));
}

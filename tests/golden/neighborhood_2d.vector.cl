/*kernelwright
format      = 1
target      = "opencl"
problem     = "attention/neighborhood_2d"
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
packed_values = {dtype = "f32", elements = "max(1, (16 * ceil_div(ceil_div(Dv, 16), VALUE_TILE) * ceil_div(ceil_div(Dv, 16), ceil_div(ceil_div(Dv, 16), VALUE_TILE)) != Dv) * B * Hkv * Skv * 16 * ceil_div(ceil_div(Dv, 16), VALUE_TILE) * ceil_div(ceil_div(Dv, 16), ceil_div(ceil_div(Dv, 16), VALUE_TILE)))"}
block_mask    = {dtype = "i32", elements = "ceil_div(Sq, ROWS) * ceil_div(Skv, 16 * PANELS)"}

[[launch]]
kernel = "pack"
grid   = ["ceil_div(Skv, 16 * PANELS)", "Hkv", "B"]
block  = ["1", "1", "1"]
args   = ["K", "V", "packed_keys", "packed_values", "Skv"]

[[launch]]
kernel = "classify"
grid   = ["ceil_div(Sq, ROWS)", "1", "1"]
block  = ["1", "1", "1"]
args   = ["block_mask", "Sq", "Skv", "Width"]

[[launch]]
kernel = "attention"
grid   = ["ceil_div(Sq, ROWS * ROW_TILES)", "Hq", "B"]
block  = ["1", "1", "1"]
args   = ["Q", "packed_keys", "V", "packed_values", "block_mask", "O", "Sq", "Skv", "Hq", "Hkv",
                "Width"]
*/
// attention/neighborhood_2d: Neighborhood attention on an image, 7 by 9 pixels.
// Written by kernelwright, generator "vector 2".
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
// How: K is packed into panels of 16 * PANELS columns. A work-group takes ROW_TILES tiles of ROWS queries through
// the keys in blocks of BLOCK_KV with an online softmax; dot products and weighted sums are register tiles.
// The mask is no interval of keys per row: a first kernel classifies panels of keys for each tile of
// rows; empty ones are skipped, full ones are not masked.

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

static inline int floor_div(const int a, const int b) {
  if (b == 0) return 0;
  const int quotient = a / b;
  return quotient - (a % b != 0 && ((a < 0) != (b < 0)));
}
static inline int floor_mod(const int a, const int b) {
  if (b == 0) return 0;
  const int remainder = a % b;
  return remainder != 0 && ((remainder < 0) != (b < 0)) ? remainder + b : remainder;
}
static inline int16 floor_div16(const int16 a, const int16 b) {
  const int16 safe = select(b, (int16)(1), b == 0);
  const int16 quotient = a / safe;
  // A true lane is -1.
  return (b != 0) & (quotient + ((a != quotient * safe) & ((a < 0) ^ (safe < 0))));
}
static inline int16 floor_mod16(const int16 a, const int16 b) {
  const int16 safe = select(b, (int16)(1), b == 0);
  const int16 remainder = a - a / safe * safe;
  return remainder + (safe & (remainder != 0) & ((remainder < 0) ^ (safe < 0)));
}

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

// Keys as panels [head][panel][HEAD_DIM][PANEL_KEYS], so that the score loop reads memory in order; and V with its rows
// padded to whole float16s where they are not. One panel per work-group.
static __attribute__((noinline))  // PoCL compiles a kernel three times, and what it calls once
void pack_group(__global const float* restrict K, __global const float* restrict V,
                __global float* restrict packed_keys, __global float* restrict packed_values, const int Skv,
                const long group_x, const long group_y, const long group_z, const long groups_x,
                const long groups_y) {
  const int first_key = group_x * PANEL_KEYS;
  const long head = (long)group_z * groups_y + group_y;
  __global const float* key = K + (head * Skv + first_key) * HEAD_DIM;
  __global float* panel = packed_keys + (head * groups_x + group_x) * (HEAD_DIM * PANEL_KEYS);
  for (int j = 0; j < PANELS; ++j) {
    const int keys_left = Skv - first_key - j * LANES;
    #pragma unroll 1
    for (int d = 0; d < HEAD_DIM; ++d)
      vstore16(key_column(key + j * LANES * HEAD_DIM + d, keys_left), j, panel + d * PANEL_KEYS);
  }
#if VALUE_STRIDE != VALUE_DIM
  for (int k = first_key; k < min(first_key + PANEL_KEYS, Skv); ++k) {
    __global const float* value = V + (head * Skv + k) * VALUE_DIM;
    __global float* padded = packed_values + (head * Skv + k) * VALUE_STRIDE;
    for (int d = 0; d < VALUE_STRIDE; ++d) padded[d] = d < VALUE_DIM ? value[d] : 0.0f;
  }
#endif
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void pack(__global const float* restrict K, __global const float* restrict V, __global float* restrict packed_keys,
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
static inline void dot_products(__global const float* const* query, __global const float* panel, float16* scores) {
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

// Makes one row's dot products with the keys from first_key on into scores in units of log2 and returns the largest.
// `masked` is a literal at every call, so each call is compiled for its case.
static inline float finish_scores(float16* scores, const int vectors, const int first_key, const int masked,
                                  const int allowed_first, const int allowed_last, const int q_idx,
                                  const float scale, const int Width, const int m1, const int m5,
                                  const int16* m3_column, const int16* m7_column) {
  float16 top = -INFINITY;
  const int m2 = min(max(floor_div(q_idx, Width) - 3, 0), m1);
  const int m4 = m2 + 7;
  const int m6 = min(max(floor_mod(q_idx, Width) - 4, 0), m5);
  const int m8 = m6 + 9;
  #pragma unroll 1
  for (int c = 0; c < vectors; ++c) {
    const int key = first_key + c * LANES;
    const int16 kv_idx = key + LANE_INDEX;
    float16 s = scores[c] * scale;
    const int16 m3 = m3_column[c];
    const int16 m7 = m7_column[c];
    const int16 attend = ((m2 <= m3) & (m3 < m4)) & ((m6 <= m7) & (m7 < m8));
    if (masked) s = select((float16)(-INFINITY), s, attend & (kv_idx <= allowed_last));
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

static inline void store_row(__global float* to, const float16* row, const float factor) {
  for (int j = 0; j < VALUE_DIM / LANES; ++j) vstore16(row[j] * factor, j, to);
#if VALUE_DIM % LANES != 0
  const float* tail = (const float*)row;
  for (int d = VALUE_DIM / LANES * LANES; d < VALUE_DIM; ++d) to[d] = tail[d] * factor;
#endif
}

// The block mask: which keys of each panel the rows of a tile may attend to.
// The mask knows nothing of the batch and head, and the map has one entry for all.
#define BLOCK_PANELS (BLOCK_KV / PANEL_KEYS)
#define NO_KEY 0
#define SOME_KEYS 1
#define EVERY_KEY 2

static __attribute__((noinline))  // PoCL compiles a kernel three times, and what it calls once
void classify_group(__global int* restrict block_mask, const int Sq, const int Skv, const int Width,
                    const long group_x, const long group_y, const long group_z, const long groups_x,
                    const long groups_y) {
  const int panels = (Skv + PANEL_KEYS - 1) / PANEL_KEYS;
  const long tile = ((long)group_z * groups_y + group_y) * groups_x + group_x;
  __global int* codes = block_mask + tile * panels;
  const int m1 = floor_div(Sq, Width) - 7;
  const int m5 = Width - 9;
  int16 m3_column[BLOCK_VECTORS];
  int16 m7_column[BLOCK_VECTORS];
  for (int block = 0; block < Skv; block += BLOCK_KV) {
    const int vectors = (min(BLOCK_KV, Skv - block) + PANEL_KEYS - 1) / PANEL_KEYS * PANELS;
    for (int c = 0; c < vectors; ++c) {
      const int key = block + c * LANES;
      const int16 kv_idx = key + LANE_INDEX;
      const int16 m3 = floor_div16(kv_idx, (int16)(Width));
      const int16 m7 = floor_mod16(kv_idx, (int16)(Width));
      m3_column[c] = m3;
      m7_column[c] = m7;
    }
    int16 some[BLOCK_PANELS], every[BLOCK_PANELS];
    for (int p = 0; p < BLOCK_PANELS; ++p) {
      some[p] = 0;
      every[p] = -1;
    }
    #pragma unroll 1
    for (int r = 0; r < ROWS; ++r) {
      const int q_idx = min((int)group_x * ROWS + r, Sq - 1);
      const int m2 = min(max(floor_div(q_idx, Width) - 3, 0), m1);
      const int m4 = m2 + 7;
      const int m6 = min(max(floor_mod(q_idx, Width) - 4, 0), m5);
      const int m8 = m6 + 9;
      #pragma unroll 1
      for (int c = 0; c < vectors; ++c) {
        const int key = block + c * LANES;
        const int16 kv_idx = key + LANE_INDEX;
        const int16 m3 = m3_column[c];
        const int16 m7 = m7_column[c];
        const int16 allowed = (((m2 <= m3) & (m3 < m4)) & ((m6 <= m7) & (m7 < m8))) & (kv_idx < Skv);
        some[c / PANELS] |= allowed;
        every[c / PANELS] &= allowed;
      }
    }
    for (int p = 0; p < vectors / PANELS; ++p)
      codes[block / PANEL_KEYS + p] = all(every[p]) ? EVERY_KEY : any(some[p]) ? SOME_KEYS : NO_KEY;
  }
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void classify(__global int* restrict block_mask, const int Sq, const int Skv, const int Width) {
  classify_group(block_mask, Sq, Skv, Width, get_group_id(0), get_group_id(1), get_group_id(2),
                 get_num_groups(0), get_num_groups(1));
}

// ROW_TILES tiles of ROWS queries of one head per work-group, so that a block of keys and values is read from the cache
// once for all of them. Softmax is online: peak and total hold each row's largest score and sum of probabilities so
// far.
static __attribute__((noinline))  // PoCL compiles a kernel three times, and what it calls once
void attention_group(__global const float* restrict Q, __global const float* restrict packed_keys,
                     __global const float* restrict V, __global const float* restrict packed_values,
                     __global const int* restrict block_mask, __global float* restrict O, const int Sq,
                     const int Skv, const int Hq, const int Hkv, const int Width, const long group_x,
                     const long group_y, const long group_z) {
#if VALUE_STRIDE != VALUE_DIM
  __global const float* values = packed_values;
#else
  __global const float* values = V;
#endif
  const int h = group_y, b = group_z;
  const long query_head = (long)b * Hq + h;
  const long key_head = (long)b * Hkv + h / (Hq / Hkv);
  const int panels = (Skv + PANEL_KEYS - 1) / PANEL_KEYS;
  const int first_row = group_x * (ROWS * ROW_TILES);
  const int tiles = min(ROW_TILES, (Sq - first_row + ROWS - 1) / ROWS);
  const float scale = LOG2_E * (1.0f / sqrt((float)HEAD_DIM));
  const int m1 = floor_div(Sq, Width) - 7;
  const int m5 = Width - 9;

  float16 scores[ROWS * BLOCK_VECTORS];
  float16 out[ROW_TILES][ROWS * OUT_VECTORS];
  float peak[ROW_TILES][ROWS], total[ROW_TILES][ROWS];
  for (int t = 0; t < tiles; ++t)
    for (int r = 0; r < ROWS; ++r) {
      peak[t][r] = -INFINITY;
      total[t][r] = 0.0f;
      for (int j = 0; j < OUT_VECTORS; ++j) out[t][r * OUT_VECTORS + j] = 0.0f;
    }
  __global const int* codes = block_mask + (long)(first_row / ROWS) * panels;
  for (int block = 0; block <= Skv - 1; block += BLOCK_KV) {
    // What depends on the key alone, for all rows.
    int16 m3_column[BLOCK_VECTORS];
    int16 m7_column[BLOCK_VECTORS];
    int columns_ready = 0;
    for (int t = 0; t < tiles; ++t) {
      // The panels that the tile needs, as runs of neighbours that are masked alike.
      int run_first[BLOCK_PANELS], run_end[BLOCK_PANELS], run_masked[BLOCK_PANELS], runs = 0;
      for (int p = block / PANEL_KEYS; p < min(block / PANEL_KEYS + BLOCK_PANELS, panels); ++p) {
        const int code = codes[t * panels + p];
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
      if (!columns_ready) {
        for (int c = 0; c < (min(BLOCK_KV, Skv - block) + PANEL_KEYS - 1) / PANEL_KEYS * PANELS; ++c) {
          const int key = block + c * LANES;
          const int16 kv_idx = key + LANE_INDEX;
          const int16 m3 = floor_div16(kv_idx, (int16)(Width));
          const int16 m7 = floor_mod16(kv_idx, (int16)(Width));
          m3_column[c] = m3;
          m7_column[c] = m7;
        }
        columns_ready = 1;
      }

      const int tile_row = first_row + t * ROWS;
      // Rows past the last one repeat it; they are computed and not stored.
      __global const float* query[ROWS];
      #pragma unroll
      for (int r = 0; r < ROWS; ++r) query[r] = Q + (query_head * Sq + min(tile_row + r, Sq - 1)) * HEAD_DIM;
      int vectors = 0;
      #pragma unroll 1
      for (int run = 0; run < runs; ++run)
        #pragma unroll 1
        for (int p = run_first[run]; p < run_end[run]; ++p, vectors += PANELS)
          dot_products(query, packed_keys + (key_head * panels + p) * (HEAD_DIM * PANEL_KEYS), scores + vectors);

      #pragma unroll 1
      for (int r = 0; r < ROWS; ++r) {
        float16* row_scores = scores + r * BLOCK_VECTORS;
        const int q_idx = min(tile_row + r, Sq - 1);
        const int allowed_first = 0, allowed_last = Skv - 1;
        float highest = -INFINITY;
        for (int run = 0, c = 0; run < runs; ++run) {
          const int begin = run_first[run] * PANEL_KEYS, count = (run_end[run] - run_first[run]) * PANELS;
          const float of_run = run_masked[run]
            ? finish_scores(row_scores + c, count, begin, 1, allowed_first, allowed_last,
                            q_idx, scale, Width, m1, m5, m3_column + (begin - block) / LANES,
                            m7_column + (begin - block) / LANES)
            : finish_scores(row_scores + c, count, begin, 0, allowed_first, allowed_last,
                            q_idx, scale, Width, m1, m5, m3_column + (begin - block) / LANES,
                            m7_column + (begin - block) / LANES);
          highest = max(highest, of_run);
          c += count;
        }
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
      const float* probabilities = (const float*)scores;
      for (int run = 0; run < runs; ++run) {
        const int begin = run_first[run] * PANEL_KEYS, end = run_end[run] * PANEL_KEYS;
        __global const float* value = values + (key_head * Skv + begin) * VALUE_STRIDE;
        #pragma unroll 1
        for (int j = 0; j < OUT_VECTORS; j += VALUE_STEP)
          add_values(probabilities, value + j * LANES, min(end, Skv) - begin, out[t] + j);
        probabilities += end - begin;
      }
    }
  }

  for (int row = first_row; row < min(first_row + tiles * ROWS, Sq); ++row) {
    const int t = (row - first_row) / ROWS, r = (row - first_row) % ROWS;
    // A row whose keys were all masked has no probabilities, and its output is zero.
    const float factor = total[t][r] > 0.0f ? 1.0f / total[t][r] : 0.0f;
    store_row(O + (query_head * Sq + row) * VALUE_DIM, out[t] + r * OUT_VECTORS, factor);
  }
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1)))
void attention(__global const float* restrict Q, __global const float* restrict packed_keys,
               __global const float* restrict V, __global const float* restrict packed_values,
               __global const int* restrict block_mask, __global float* restrict O, const int Sq, const int Skv,
               const int Hq, const int Hkv, const int Width) {
  attention_group(Q, packed_keys, V, packed_values, block_mask, O, Sq, Skv, Hq, Hkv, Width, get_group_id(0),
                  get_group_id(1), get_group_id(2));
}

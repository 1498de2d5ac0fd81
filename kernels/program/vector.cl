// Functions of sixteen lanes that tensor programs call on CPUs. operators/program/kernels picks those in use,
// and writes the loops around them.
//
// definitions: ROWS_PER_ITEM COLUMNS_PER_ITEM STREAM_STORES

// --- section: lane_index
#define LANE_INDEX ((int16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))

// --- section: larger16
// The larger number of each lane; NaN where one is.
static inline float16 larger16(const float16 a, const float16 b) { return select(a, b, (b > a) | (b != b)); }

// --- section: smaller16
// The smaller number of each lane; NaN where one is.
static inline float16 smaller16(const float16 a, const float16 b) { return select(a, b, (b < a) | (b != b)); }

// --- section: exp16
// --- 2^n e^r with |r| <= ln(2) / 2. Adding 1.5 * 2^23 + 126 rounds to n and leaves n + 126 in the lowest bits, which
// --- shifted are 2^(n - 1); the polynomial of degree 7 is of 2 e^r. Below -87 the shifted bits are those of 0. NaN
// --- passes both bounds, since each keeps what it does not compare.
// The exponential of each lane, within 1 unit in the last place; 0 below 1.7e-38, infinity and NaN where exp has them.
static inline float16 exp16(const float16 x) {
  const float16 above = select(x, (float16)(-87.0f), x < -87.0f);
  const float16 bounded = select(above, (float16)(89.0f), above > 89.0f);
  const float16 shifted = fma(bounded, (float16)(1.44269504f), (float16)(12583038.0f));
  const float16 n = shifted - 12583038.0f;
  float16 r = fma(n, (float16)(-0.693359375f), bounded);
  r = fma(n, (float16)(2.12194440e-4f), r);
  float16 p = fma((float16)(3.96825397e-4f), r, (float16)(2.77777778e-3f));
  p = fma(p, r, (float16)(1.66666667e-2f));
  p = fma(p, r, (float16)(8.33333333e-2f));
  p = fma(p, r, (float16)(3.33333333e-1f));
  p = fma(p, r, (float16)(1.0f));
  p = fma(p, r, (float16)(2.0f));
  p = fma(p, r, (float16)(2.0f));
  return p * as_float16(as_int16(shifted) << 23);
}

// --- section: over16
// --- One division for a whole loop. The divisor is brought near 1 first: the reciprocal of a tiny or a huge one would be
// --- infinite or lose its digits.
// Each lane divided by the same number, within 2 units in the last place.
static inline float16 over16(const float16 x, const float divisor) {
  const float size = fabs(divisor);
  const float scale = size < 0x1p-64f ? 0x1p64f : size > 0x1p64f ? 0x1p-64f : 1.0f;
  return x * scale * (1.0f / (divisor * scale));
}

// --- section: store16
// --- PoCL 3.1 makes four stores of vstore16.
typedef float16 __attribute__((aligned(4))) float16_anywhere;
// Sixteen neighbours at once.
static inline void store16(const float16 x, __global float* to) { *(__global float16_anywhere*)to = x; }

// --- section: stream16
// --- A line of the cache that is stored to is read first, a third of what a map moves.
// Sixteen neighbours past the caches, where they begin at a multiple of 64 bytes.
static inline void stream16(const float16 x, __global float* to, const int at_a_line) {
  if (STREAM_STORES && at_a_line)
    __builtin_nontemporal_store(x, (__global float16*)to);
  else
    store16(x, to);
}

// --- section: sum_of
// The sum of sixteen lanes, in pairs.
static inline float sum_of(const float16 x) {
  const float8 a = x.lo + x.hi;
  const float4 b = a.lo + a.hi;
  const float2 c = b.lo + b.hi;
  return c.x + c.y;
}

// --- section: product_of
// The product of sixteen lanes, in pairs.
static inline float product_of(const float16 x) {
  const float8 a = x.lo * x.hi;
  const float4 b = a.lo * a.hi;
  const float2 c = b.lo * b.hi;
  return c.x * c.y;
}

// --- section: largest_of
// The largest of sixteen lanes; NaN where one is.
static inline float largest_of(const float16 x) {
  const float8 a = select(x.hi, x.lo, (x.lo > x.hi) | (x.lo != x.lo));
  const float4 b = select(a.hi, a.lo, (a.lo > a.hi) | (a.lo != a.lo));
  const float2 c = select(b.hi, b.lo, (b.lo > b.hi) | (b.lo != b.lo));
  return c.x > c.y || c.x != c.x ? c.x : c.y;
}

// --- section: smallest_of
// The smallest of sixteen lanes; NaN where one is.
static inline float smallest_of(const float16 x) {
  const float8 a = select(x.hi, x.lo, (x.lo < x.hi) | (x.lo != x.lo));
  const float4 b = select(a.hi, a.lo, (a.lo < a.hi) | (a.lo != a.lo));
  const float2 c = select(b.hi, b.lo, (b.lo < b.hi) | (b.lo != b.lo));
  return c.x < c.y || c.x != c.x ? c.x : c.y;
}

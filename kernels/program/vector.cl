// Functions of sixteen lanes that tensor programs call on CPUs. operators/program/kernels picks those in use,
// and writes the loops around them.
//
// definitions: ROWS_PER_ITEM COLUMNS_PER_ITEM

// --- section: lane_index
#define LANE_INDEX ((int16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))

// --- section: larger16
// The larger number of each lane; NaN where one is.
static inline float16 larger16(const float16 a, const float16 b) { return select(b, a, (a > b) | (a != a)); }

// --- section: smaller16
// The smaller number of each lane; NaN where one is.
static inline float16 smaller16(const float16 a, const float16 b) { return select(b, a, (a < b) | (a != a)); }

// --- section: exp16
// --- 2^n e^r with |r| <= ln(2) / 2; a polynomial of degree 7 for e^r, and n in two steps, so that neither leaves f32.
// The exponential of each lane, within 2 units in the last place; 0, infinity and NaN where exp has them.
static inline float16 exp16(const float16 x) {
  const float16 bounded = fmin(fmax(x, (float16)(-104.0f)), (float16)(89.0f));
  const float16 n = rint(bounded * 1.44269504f);
  float16 r = fma(n, (float16)(-0.693359375f), bounded);
  r = fma(n, (float16)(2.12194440e-4f), r);
  float16 p = fma((float16)(1.98412698e-4f), r, (float16)(1.38888889e-3f));
  p = fma(p, r, (float16)(8.33333333e-3f));
  p = fma(p, r, (float16)(4.16666667e-2f));
  p = fma(p, r, (float16)(1.66666667e-1f));
  p = fma(p, r, (float16)(0.5f));
  p = fma(p * r, r, r) + 1.0f;
  const int16 whole = convert_int16(n);
  const int16 half_of_it = whole >> 1;
  p = p * as_float16((half_of_it + 127) << 23) * as_float16((whole - half_of_it + 127) << 23);
  return select(p, x, x != x);
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

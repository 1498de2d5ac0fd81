// Functions of sixteen lanes that tensor programs call on CPUs. operators/program/kernels picks those in use,
// and writes the loops around them.
//
// definitions: ROWS_PER_ITEM COLUMNS_PER_ITEM LINES_PER_ITEM STREAM_STORES PREFETCH_BYTES ROW_STREAMS
// definitions: PART_COLUMNS

// --- section: lane_index
#define LANE_INDEX ((int16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))

// --- section: unrolled_parts
// Clang looks before the loops over parts of a sum are unrolled, and would warn.
#pragma clang diagnostic ignored "-Wpass-failed"

// --- section: larger16
// The larger number of each lane; NaN where one is.
static inline float16 larger16(const float16 a, const float16 b) { return select(a, b, (b > a) | (b != b)); }

// --- section: larger_number16
// The larger number of each lane; of a number and NaN the number, if it stands first.
static inline float16 larger_number16(const float16 a, const float16 b) { return select(a, b, b > a); }

// --- section: smaller16
// The smaller number of each lane; NaN where one is.
static inline float16 smaller16(const float16 a, const float16 b) { return select(a, b, (b < a) | (b != b)); }

// --- section: exp16_below_89
// --- 2^n e^r with |r| <= ln(2) / 2. Adding 1.5 * 2^23 + 126 rounds to n and leaves n + 126 in the lowest bits, which
// --- shifted are 2^(n - 1); the polynomial is the minimax one of degree 5 for 2 e^r that begins with 2 + 2 r, to 1.0e-7
// --- of the result. One constant for ln(2) is off by 1.9e-9, n times. Below -87 the shifted bits are those of 0. NaN
// --- passes the bound, which keeps what it does not compare.
// The exponential of each lane, which is 89 at most, within 3 units in the last place up to |x| = 20 and 6 beyond; 1
// for 0, 0 below 1.7e-38, NaN for NaN.
static inline float16 exp16_below_89(const float16 x) {
  const float16 bounded = select(x, (float16)(-87.0f), x < -87.0f);
  const float16 shifted = fma(bounded, (float16)(1.44269504f), (float16)(12583038.0f));
  const float16 n = shifted - 12583038.0f;
  const float16 r = fma(n, (float16)(-0.693147181f), bounded);
  float16 p = fma((float16)(1.66250031e-2f), r, (float16)(8.37806640e-2f));
  p = fma(p, r, (float16)(3.33342308e-1f));
  p = fma(p, r, (float16)(9.99984606e-1f));
  p = fma(p, r, (float16)(2.0f));
  p = fma(p, r, (float16)(2.0f));
  return p * as_float16(as_int16(shifted) << 23);
}

// --- section: exp16
// The exponential of each lane, as exact; infinity where exp has it.
static inline float16 exp16(const float16 x) { return exp16_below_89(select(x, (float16)(89.0f), x > 89.0f)); }

// --- section: row_of_parts
// The maximum and the sum of a row's exponentials from those of its parts, of which each has its own maximum. Shares
// are the exponentials of the parts' maxima less the row's.
static inline float2 row_of_parts(const float* maxima, const float* sums, float* shares, const int parts) {
  float best = maxima[0];
  for (int part = 1; part < parts; ++part) best = fmax(best, maxima[part]);
  float sum = 0.0f;
  for (int part = 0; part < parts; ++part) {
    shares[part] = exp(maxima[part] - best);
    sum += sums[part] * shares[part];
  }
  return (float2)(best, sum);
}

// --- section: part_factors
// What makes quotients by the row's sum of the exponentials of each part.
static inline void set_part_factors(const float* maxima, const float* sums, float* factors, const int parts) {
  const float sum = row_of_parts(maxima, sums, factors, parts).y;
  for (int part = 0; part < parts; ++part) factors[part] /= sum;
}

// --- section: part_terms
// What makes logarithms of quotients by the row's sum of the differences from the maximum of each part.
static inline void set_part_terms(const float* maxima, const float* sums, float* terms, const int parts) {
  const float2 row = row_of_parts(maxima, sums, terms, parts);
  for (int part = 0; part < parts; ++part) terms[part] = maxima[part] - row.x - log(row.y);
}

// --- section: expm1_16
// --- As exp16 reduces it; e^x - 1 = 2 (2^(n - 1) (e^r - 1) + 2^(n - 1) - 1/2), of which n = 0 leaves e^r - 1 alone. The
// --- polynomial is the minimax one for (e^r - 1 - r) / r^2, to 2.4e-10 of the result.
// The exponential of each lane less 1, within 2 units in the last place.
static inline float16 expm1_16(const float16 x) {
  const float16 above = select(x, (float16)(-20.0f), x < -20.0f);
  const float16 bounded = select(above, (float16)(89.0f), above > 89.0f);
  const float16 shifted = fma(bounded, (float16)(1.44269504f), (float16)(12583038.0f));
  const float16 n = shifted - 12583038.0f;
  float16 r = fma(n, (float16)(-0.693359375f), bounded);
  r = fma(n, (float16)(2.12194440e-4f), r);
  float16 p = fma((float16)(1.99141946e-4f), r, (float16)(1.39410510e-3f));
  p = fma(p, r, (float16)(8.33327300e-3f));
  p = fma(p, r, (float16)(4.16663542e-2f));
  p = fma(p, r, (float16)(1.66666668e-1f));
  p = fma(p, r, (float16)(5.00000005e-1f));
  p = fma(p, r * r, r);
  const float16 half_power = as_float16(as_int16(shifted) << 23);
  return 2.0f * fma(half_power, p, half_power - 0.5f);
}

// --- section: log1p_16
// --- 1 + x = 2^k (1 + f) with f in [-1/4, 1/2): the exponent k is that of (1 + x) / 0.75, and f is rounded once, for
// --- 2^-k - 1 is exact wherever x counts. 4 * 2^-k is a number for every k. The polynomial is the minimax one for
// --- (log(1 + f) - f) / f^2, to 4.8e-9 of the result.
// The logarithm of each lane plus 1, within 2 units in the last place.
static inline float16 log1p_16(const float16 x) {
  const int16 exponent = (as_int16(x + 1.0f) - as_int16((float16)(0.75f))) & (int16)(0xff800000);
  const float16 scale = as_float16(as_int16((float16)(4.0f)) - exponent);
  const float16 f = fma(x * 0.25f, scale, fma(scale, (float16)(0.25f), (float16)(-1.0f)));
  float16 p = fma((float16)(-4.49096504e-2f), f, (float16)(1.04483264e-1f));
  p = fma(p, f, (float16)(-1.31622251e-1f));
  p = fma(p, f, (float16)(1.44820608e-1f));
  p = fma(p, f, (float16)(-1.66477679e-1f));
  p = fma(p, f, (float16)(1.99906069e-1f));
  p = fma(p, f, (float16)(-2.50000546e-1f));
  p = fma(p, f, (float16)(3.33334544e-1f));
  p = fma(p, f, (float16)(-5.00000008e-1f));
  p = fma(p, f * f, f);
  const float16 finite = fma(convert_float16(exponent >> 23), (float16)(0.693147181f), p);
  const float16 up = select(finite, x, x == INFINITY);
  return select(up, select((float16)(NAN), (float16)(-INFINITY), x == -1.0f), x <= -1.0f);
}

// --- section: erf16
// --- x + x P(x^2) up to 0.85, and 1 - e^-g(|x|) from there on, which is 1 from 4 on. Both polynomials are minimax ones,
// --- to 6.1e-9 and 2.1e-9 of the result.
// The error function of each lane, within 2 units in the last place.
static inline float16 erf16(const float16 x) {
  const float16 size = fabs(x);
  const float16 s = x * x;
  float16 p = fma((float16)(-6.31515292e-4f), s, (float16)(5.05109901e-3f));
  p = fma(p, s, (float16)(-2.68025504e-2f));
  p = fma(p, s, (float16)(1.12827175e-1f));
  p = fma(p, s, (float16)(-3.76125718e-1f));
  p = fma(p, s, (float16)(1.28379160e-1f));
  const float16 near = fma(p, x, x);
  const float16 a = select(size, (float16)(4.0f), size > 4.0f);
  float16 g = fma((float16)(-2.03660534e-4f), a, (float16)(3.11770276e-3f));
  g = fma(g, a, (float16)(-2.25184832e-2f));
  g = fma(g, a, (float16)(1.04524815e-1f));
  g = fma(g, a, (float16)(6.36520125e-1f));
  g = fma(g, a, (float16)(1.12806035f));
  g = fma(g, a, (float16)(1.04671439e-4f));
  return select(copysign(1.0f - exp16(-g), x), near, size < 0.85f);
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

// --- section: float16_anywhere
typedef float16 __attribute__((aligned(4))) float16_anywhere;

// --- section: load16
// --- PoCL 3.1 puts vload16 together from halves, and LLVM then computes with parts of two numbers.
// Sixteen neighbours at once.
static inline float16 load16(__global const float* from) { return *(__global const float16_anywhere*)from; }

// --- section: fetch_ahead
// --- PoCL 3.1's prefetch does nothing. Processors read ahead by themselves, but not into the next page.
// Has the second cache fetch a line that is read soon.
static inline void fetch_ahead(__global const float* from) {
  if (PREFETCH_BYTES > 0) __builtin_prefetch((__global const char*)from + PREFETCH_BYTES, 0, 2);
}

// --- section: column_of_turn
// --- Processors read ahead within a page, and no more than so many lines. Of several parts of a row, each in a page of its
// --- own, as many times more are under way.
// The first of the sixteen columns of a turn: parts of the row in turn, and then what is left of it.
static inline int column_of_turn(const int turn, const int turns) {
  const int of_part = turns / ROW_STREAMS;
  return 16 * (turn < of_part * ROW_STREAMS ? (uint)turn / ROW_STREAMS + (uint)turn % ROW_STREAMS * of_part : turn);
}

// --- section: store16
// --- PoCL 3.1 makes four stores of vstore16.
// Sixteen neighbours at once.
static inline void store16(const float16 x, __global float* to) { *(__global float16_anywhere*)to = x; }

// --- section: load_own16
// Sixteen neighbours of the work-item's own array.
static inline float16 load_own16(const float* from) { return *(const float16_anywhere*)from; }

// --- section: store_own16
static inline void store_own16(const float16 x, float* to) { *(float16_anywhere*)to = x; }

// --- section: every_second16
// Sixteen elements of 31, the first, the third and so on.
static inline float16 every_second16(__global const float* from) {
  return (float16)(vload16(0, from).even, vload16(0, from + 15).odd);
}

// --- section: gather16
// Sixteen elements that are `stride` apart.
static inline float16 gather16(__global const float* from, const int stride) {
  return (float16)(from[0], from[stride], from[2 * stride], from[3 * stride], from[4 * stride], from[5 * stride],
                   from[6 * stride], from[7 * stride], from[8 * stride], from[9 * stride], from[10 * stride],
                   from[11 * stride], from[12 * stride], from[13 * stride], from[14 * stride], from[15 * stride]);
}

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

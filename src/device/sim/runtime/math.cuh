#pragma once
// Arithmetic functions. Those that GPUs approximate (names with two underscores, `approx` instructions) are computed as
// well as the machine's mathematical library can: their error on a GPU is not simulated.

extern "C" {
double sin(double) noexcept;
float sinf(float) noexcept;
double cos(double) noexcept;
float cosf(float) noexcept;
double tan(double) noexcept;
float tanf(float) noexcept;
double asin(double) noexcept;
float asinf(float) noexcept;
double acos(double) noexcept;
float acosf(float) noexcept;
double atan(double) noexcept;
float atanf(float) noexcept;
double sinh(double) noexcept;
float sinhf(float) noexcept;
double cosh(double) noexcept;
float coshf(float) noexcept;
double tanh(double) noexcept;
float tanhf(float) noexcept;
double asinh(double) noexcept;
float asinhf(float) noexcept;
double acosh(double) noexcept;
float acoshf(float) noexcept;
double atanh(double) noexcept;
float atanhf(float) noexcept;
double exp(double) noexcept;
float expf(float) noexcept;
double exp2(double) noexcept;
float exp2f(float) noexcept;
double expm1(double) noexcept;
float expm1f(float) noexcept;
double log(double) noexcept;
float logf(float) noexcept;
double log2(double) noexcept;
float log2f(float) noexcept;
double log10(double) noexcept;
float log10f(float) noexcept;
double log1p(double) noexcept;
float log1pf(float) noexcept;
double sqrt(double) noexcept;
float sqrtf(float) noexcept;
double cbrt(double) noexcept;
float cbrtf(float) noexcept;
double floor(double) noexcept;
float floorf(float) noexcept;
double ceil(double) noexcept;
float ceilf(float) noexcept;
double trunc(double) noexcept;
float truncf(float) noexcept;
double round(double) noexcept;
float roundf(float) noexcept;
double rint(double) noexcept;
float rintf(float) noexcept;
double nearbyint(double) noexcept;
float nearbyintf(float) noexcept;
double fabs(double) noexcept;
float fabsf(float) noexcept;
double erf(double) noexcept;
float erff(float) noexcept;
double erfc(double) noexcept;
float erfcf(float) noexcept;
double tgamma(double) noexcept;
float tgammaf(float) noexcept;
double lgamma(double) noexcept;
float lgammaf(float) noexcept;
double logb(double) noexcept;
float logbf(float) noexcept;
double pow(double, double) noexcept;
float powf(float, float) noexcept;
double fmod(double, double) noexcept;
float fmodf(float, float) noexcept;
double remainder(double, double) noexcept;
float remainderf(float, float) noexcept;
double atan2(double, double) noexcept;
float atan2f(float, float) noexcept;
double hypot(double, double) noexcept;
float hypotf(float, float) noexcept;
double copysign(double, double) noexcept;
float copysignf(float, float) noexcept;
double fmax(double, double) noexcept;
float fmaxf(float, float) noexcept;
double fmin(double, double) noexcept;
float fminf(float, float) noexcept;
double fdim(double, double) noexcept;
float fdimf(float, float) noexcept;
double nextafter(double, double) noexcept;
float nextafterf(float, float) noexcept;
double fma(double, double, double) noexcept;
float fmaf(float, float, float) noexcept;
double ldexp(double, int) noexcept;
float ldexpf(float, int) noexcept;
double frexp(double, int*) noexcept;
float frexpf(float, int*) noexcept;
}
KW_INLINE float sin(float x) { return sinf(x); }
KW_INLINE float cos(float x) { return cosf(x); }
KW_INLINE float tan(float x) { return tanf(x); }
KW_INLINE float asin(float x) { return asinf(x); }
KW_INLINE float acos(float x) { return acosf(x); }
KW_INLINE float atan(float x) { return atanf(x); }
KW_INLINE float sinh(float x) { return sinhf(x); }
KW_INLINE float cosh(float x) { return coshf(x); }
KW_INLINE float tanh(float x) { return tanhf(x); }
KW_INLINE float asinh(float x) { return asinhf(x); }
KW_INLINE float acosh(float x) { return acoshf(x); }
KW_INLINE float atanh(float x) { return atanhf(x); }
KW_INLINE float exp(float x) { return expf(x); }
KW_INLINE float exp2(float x) { return exp2f(x); }
KW_INLINE float expm1(float x) { return expm1f(x); }
KW_INLINE float log(float x) { return logf(x); }
KW_INLINE float log2(float x) { return log2f(x); }
KW_INLINE float log10(float x) { return log10f(x); }
KW_INLINE float log1p(float x) { return log1pf(x); }
KW_INLINE float sqrt(float x) { return sqrtf(x); }
KW_INLINE float cbrt(float x) { return cbrtf(x); }
KW_INLINE float floor(float x) { return floorf(x); }
KW_INLINE float ceil(float x) { return ceilf(x); }
KW_INLINE float trunc(float x) { return truncf(x); }
KW_INLINE float round(float x) { return roundf(x); }
KW_INLINE float rint(float x) { return rintf(x); }
KW_INLINE float nearbyint(float x) { return nearbyintf(x); }
KW_INLINE float fabs(float x) { return fabsf(x); }
KW_INLINE float erf(float x) { return erff(x); }
KW_INLINE float erfc(float x) { return erfcf(x); }
KW_INLINE float tgamma(float x) { return tgammaf(x); }
KW_INLINE float lgamma(float x) { return lgammaf(x); }
KW_INLINE float logb(float x) { return logbf(x); }
KW_INLINE float pow(float x, float y) { return powf(x, y); }
KW_INLINE float fmod(float x, float y) { return fmodf(x, y); }
KW_INLINE float remainder(float x, float y) { return remainderf(x, y); }
KW_INLINE float atan2(float x, float y) { return atan2f(x, y); }
KW_INLINE float hypot(float x, float y) { return hypotf(x, y); }
KW_INLINE float copysign(float x, float y) { return copysignf(x, y); }
KW_INLINE float fmax(float x, float y) { return fmaxf(x, y); }
KW_INLINE float fmin(float x, float y) { return fminf(x, y); }
KW_INLINE float fdim(float x, float y) { return fdimf(x, y); }
KW_INLINE float nextafter(float x, float y) { return nextafterf(x, y); }
KW_INLINE float fma(float x, float y, float z) { return fmaf(x, y, z); }
KW_INLINE float ldexp(float x, int n) { return ldexpf(x, n); }
KW_INLINE float rsqrtf(float x) { return 1.0f / sqrtf(x); }
KW_INLINE float rsqrt(float x) { return 1.0f / sqrtf(x); }
KW_INLINE double rsqrt(double x) { return 1.0 / sqrt(x); }
KW_INLINE float rcbrtf(float x) { return 1.0f / cbrtf(x); }
KW_INLINE float exp10f(float x) { return powf(10.0f, x); }
KW_INLINE float normcdff(float x) { return 0.5f * erfcf(-x * 0.70710678118654752f); }
KW_INLINE float saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }
KW_INLINE float __saturatef(float x) { return saturatef(x); }
KW_INLINE void sincosf(float x, float* s, float* c) { *s = sinf(x); *c = cosf(x); }
KW_INLINE bool isnan(float x) { return x != x; }
KW_INLINE bool isnan(double x) { return x != x; }
KW_INLINE bool isinf(float x) { return __builtin_isinf(x) != 0; }
KW_INLINE bool isinf(double x) { return __builtin_isinf(x) != 0; }
KW_INLINE bool isfinite(float x) { return __builtin_isfinite(x) != 0; }
KW_INLINE bool isfinite(double x) { return __builtin_isfinite(x) != 0; }
KW_INLINE bool signbit(float x) { return __builtin_signbit(x) != 0; }

KW_INLINE int abs(int x) { return x < 0 ? -x : x; }
KW_INLINE long abs(long x) { return x < 0 ? -x : x; }
KW_INLINE long long abs(long long x) { return x < 0 ? -x : x; }
KW_INLINE long long llabs(long long x) { return x < 0 ? -x : x; }
KW_INLINE float abs(float x) { return fabsf(x); }
KW_INLINE double abs(double x) { return fabs(x); }
#define KW_MIN_MAX(T)                                               \
  KW_INLINE constexpr T min(T a, T b) { return b < a ? b : a; }     \
  KW_INLINE constexpr T max(T a, T b) { return a < b ? b : a; }
KW_MIN_MAX(int)
KW_MIN_MAX(unsigned)
KW_MIN_MAX(long)
KW_MIN_MAX(unsigned long)
KW_MIN_MAX(long long)
KW_MIN_MAX(unsigned long long)
#undef KW_MIN_MAX
KW_INLINE unsigned min(int a, unsigned b) { return min(static_cast<unsigned>(a), b); }
KW_INLINE unsigned min(unsigned a, int b) { return min(a, static_cast<unsigned>(b)); }
KW_INLINE unsigned max(int a, unsigned b) { return max(static_cast<unsigned>(a), b); }
KW_INLINE unsigned max(unsigned a, int b) { return max(a, static_cast<unsigned>(b)); }
KW_INLINE float min(float a, float b) { return fminf(a, b); }
KW_INLINE float max(float a, float b) { return fmaxf(a, b); }
KW_INLINE double min(double a, double b) { return fmin(a, b); }
KW_INLINE double max(double a, double b) { return fmax(a, b); }
KW_INLINE double min(float a, double b) { return fmin(static_cast<double>(a), b); }
KW_INLINE double min(double a, float b) { return fmin(a, static_cast<double>(b)); }
KW_INLINE double max(float a, double b) { return fmax(static_cast<double>(a), b); }
KW_INLINE double max(double a, float b) { return fmax(a, static_cast<double>(b)); }

KW_INLINE float __expf(float x) { return expf(x); }
KW_INLINE float __exp10f(float x) { return exp10f(x); }
KW_INLINE float __logf(float x) { return logf(x); }
KW_INLINE float __log2f(float x) { return log2f(x); }
KW_INLINE float __log10f(float x) { return log10f(x); }
KW_INLINE float __sinf(float x) { return sinf(x); }
KW_INLINE float __cosf(float x) { return cosf(x); }
KW_INLINE float __tanf(float x) { return tanf(x); }
KW_INLINE float __tanhf(float x) { return tanhf(x); }
KW_INLINE float __powf(float x, float y) { return powf(x, y); }
KW_INLINE void __sincosf(float x, float* s, float* c) { sincosf(x, s, c); }
KW_INLINE float __fdividef(float x, float y) { return x / y; }
KW_INLINE float fdividef(float x, float y) { return x / y; }
KW_INLINE float __frcp_rn(float x) { return 1.0f / x; }
KW_INLINE float __fsqrt_rn(float x) { return sqrtf(x); }
KW_INLINE float __frsqrt_rn(float x) { return static_cast<float>(1.0 / sqrt(static_cast<double>(x))); }
KW_INLINE float __fdiv_rn(float x, float y) { return x / y; }
KW_INLINE float __fadd_rn(float x, float y) { return x + y; }
KW_INLINE float __fsub_rn(float x, float y) { return x - y; }
KW_INLINE float __fmul_rn(float x, float y) { return x * y; }
KW_INLINE float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
KW_INLINE double __fma_rn(double x, double y, double z) { return fma(x, y, z); }

// Conversions to integers saturate and take NaN to zero.
KW_INLINE int __float2int_rz(float x) {
  if (x != x) return 0;
  return x >= 2147483648.0f ? INT_MAX : x <= -2147483648.0f ? INT_MIN : static_cast<int>(x);
}
KW_INLINE int __float2int_rn(float x) { return __float2int_rz(rintf(x)); }
KW_INLINE int __float2int_rd(float x) { return __float2int_rz(floorf(x)); }
KW_INLINE int __float2int_ru(float x) { return __float2int_rz(ceilf(x)); }
KW_INLINE unsigned __float2uint_rz(float x) {
  if (!(x > 0.0f)) return 0;
  return x >= 4294967296.0f ? 0xffffffffu : static_cast<unsigned>(x);
}
KW_INLINE unsigned __float2uint_rn(float x) { return __float2uint_rz(rintf(x)); }
KW_INLINE float __int2float_rn(int x) { return static_cast<float>(x); }
KW_INLINE float __uint2float_rn(unsigned x) { return static_cast<float>(x); }
KW_INLINE float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
KW_INLINE int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
KW_INLINE float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
KW_INLINE unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
KW_INLINE double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
KW_INLINE long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }

KW_INLINE int __popc(unsigned x) { return __builtin_popcount(x); }
KW_INLINE int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
KW_INLINE int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
KW_INLINE int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x)); }
KW_INLINE int __ffs(int x) { return __builtin_ffs(x); }
KW_INLINE int __ffsll(long long x) { return __builtin_ffsll(x); }
KW_INLINE unsigned __brev(unsigned x) {
  unsigned reversed = 0;
  for (int i = 0; i < 32; ++i) reversed |= (x >> i & 1u) << (31 - i);
  return reversed;
}
KW_INLINE int __mulhi(int a, int b) { return static_cast<int>(static_cast<long long>(a) * b >> 32); }
KW_INLINE unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(static_cast<unsigned long long>(a) * b >> 32);
}
KW_INLINE int __mul24(int a, int b) { return a * b; }
KW_INLINE int __dp4a(int a, int b, int c) {
  for (int i = 0; i < 4; ++i) c += static_cast<signed char>(a >> 8 * i) * static_cast<signed char>(b >> 8 * i);
  return c;
}
KW_INLINE unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  const unsigned long long bytes = static_cast<unsigned long long>(y) << 32 | x;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned chosen = selector >> 4 * i & 15u;
    unsigned byte = static_cast<unsigned>(bytes >> 8 * (chosen & 7u)) & 0xffu;
    if ((chosen & 8u) != 0) byte = (byte & 0x80u) != 0 ? 0xffu : 0u;
    result |= byte << 8 * i;
  }
  return result;
}
KW_INLINE unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  shift &= 31u;
  return shift == 0 ? high : high << shift | low >> (32u - shift);
}
KW_INLINE unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  shift &= 31u;
  return shift == 0 ? low : high << (32u - shift) | low >> shift;
}
/// As cvt.rna.tf32.f32; the result's bits, as the instruction leaves them in a register.
KW_INLINE unsigned __kw_sim_to_tf32(float x) { return kw_sim::bits_of(kw_sim::round_to_tf32(x)); }
/// As tanh.approx.f32, ex2.approx.ftz.f32 and their like.
KW_INLINE float __kw_sim_tanh_approx(float x) { return tanhf(x); }
KW_INLINE float __kw_sim_exp2_approx(float x) { return exp2f(x); }
KW_INLINE float __kw_sim_reciprocal_approx(float x) { return 1.0f / x; }
KW_INLINE float __kw_sim_rsqrt_approx(float x) { return 1.0f / sqrtf(x); }
KW_INLINE float __kw_sim_log2_approx(float x) { return log2f(x); }

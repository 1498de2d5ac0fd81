#pragma once
// half, bfloat16 and their pairs. Arithmetic rounds after each operation; a float holds every exact result closely
// enough that rounding it once more changes nothing (24 >= 2 * 11 + 2 bits), fused operations excepted, which take the
// longer way (kw_sim::fused).

#if defined(__HIP__) && defined(__FLT16_MANT_DIG__)
#define KW_FROM_FLOAT16(NAME) KW_MEMBER NAME(_Float16 v) : NAME(static_cast<float>(v)) {}
#else
#define KW_FROM_FLOAT16(NAME)
#endif
#define KW_SMALL(NAME, FORMAT, WIDEN)                                                                     \
  struct __align__(2) NAME {                                                                              \
    unsigned short bits;                                                                                  \
    NAME() = default;                                                                                     \
    KW_MEMBER NAME(float v) : bits(kw_sim::narrow(v, FORMAT, kw_sim::Rounding::nearest_even)) {}          \
    KW_MEMBER NAME(double v) : bits(kw_sim::narrow(v, FORMAT, kw_sim::Rounding::nearest_even)) {}         \
    KW_MEMBER NAME(int v) : bits(kw_sim::narrow(v, FORMAT, kw_sim::Rounding::nearest_even)) {}            \
    KW_MEMBER NAME(unsigned v) : bits(kw_sim::narrow(v, FORMAT, kw_sim::Rounding::nearest_even)) {}       \
    KW_FROM_FLOAT16(NAME)                                                                                 \
    KW_MEMBER operator float() const { return WIDEN(bits); }                                              \
    KW_MEMBER NAME& operator+=(NAME b) { return *this = NAME(WIDEN(bits) + WIDEN(b.bits)); }              \
    KW_MEMBER NAME& operator-=(NAME b) { return *this = NAME(WIDEN(bits) - WIDEN(b.bits)); }              \
    KW_MEMBER NAME& operator*=(NAME b) { return *this = NAME(WIDEN(bits) * WIDEN(b.bits)); }              \
    KW_MEMBER NAME& operator/=(NAME b) { return *this = NAME(WIDEN(bits) / WIDEN(b.bits)); }              \
  };                                                                                                      \
  KW_INLINE NAME operator+(NAME a, NAME b) { return a += b; }                                             \
  KW_INLINE NAME operator-(NAME a, NAME b) { return a -= b; }                                             \
  KW_INLINE NAME operator*(NAME a, NAME b) { return a *= b; }                                             \
  KW_INLINE NAME operator/(NAME a, NAME b) { return a /= b; }                                             \
  KW_INLINE NAME operator-(NAME a) { a.bits = static_cast<unsigned short>(a.bits ^ 0x8000); return a; }   \
  KW_INLINE bool operator==(NAME a, NAME b) { return WIDEN(a.bits) == WIDEN(b.bits); }                    \
  KW_INLINE bool operator!=(NAME a, NAME b) { return WIDEN(a.bits) != WIDEN(b.bits); }                    \
  KW_INLINE bool operator<(NAME a, NAME b) { return WIDEN(a.bits) < WIDEN(b.bits); }                      \
  KW_INLINE bool operator>(NAME a, NAME b) { return WIDEN(a.bits) > WIDEN(b.bits); }                      \
  KW_INLINE bool operator<=(NAME a, NAME b) { return WIDEN(a.bits) <= WIDEN(b.bits); }                    \
  KW_INLINE bool operator>=(NAME a, NAME b) { return WIDEN(a.bits) >= WIDEN(b.bits); }                    \
  struct __align__(4) NAME##2 {                                                                           \
    NAME x, y;                                                                                            \
  };                                                                                                      \
  KW_INLINE NAME __hadd(NAME a, NAME b) { return a + b; }                                                 \
  KW_INLINE NAME __hsub(NAME a, NAME b) { return a - b; }                                                 \
  KW_INLINE NAME __hmul(NAME a, NAME b) { return a * b; }                                                 \
  KW_INLINE NAME __hdiv(NAME a, NAME b) { return a / b; }                                                 \
  KW_INLINE NAME __hneg(NAME a) { return -a; }                                                            \
  KW_INLINE NAME __habs(NAME a) { a.bits = static_cast<unsigned short>(a.bits & 0x7fff); return a; }      \
  KW_INLINE NAME __hfma(NAME a, NAME b, NAME c) {                                                         \
    a.bits = kw_sim::fused(WIDEN(a.bits), WIDEN(b.bits), WIDEN(c.bits), FORMAT);                          \
    return a;                                                                                             \
  }                                                                                                       \
  KW_INLINE NAME __hmax(NAME a, NAME b) { return NAME(fmaxf(WIDEN(a.bits), WIDEN(b.bits))); }             \
  KW_INLINE NAME __hmin(NAME a, NAME b) { return NAME(fminf(WIDEN(a.bits), WIDEN(b.bits))); }             \
  KW_INLINE bool __heq(NAME a, NAME b) { return a == b; }                                                 \
  KW_INLINE bool __hne(NAME a, NAME b) { return a != b; }                                                 \
  KW_INLINE bool __hlt(NAME a, NAME b) { return a < b; }                                                  \
  KW_INLINE bool __hle(NAME a, NAME b) { return a <= b; }                                                 \
  KW_INLINE bool __hgt(NAME a, NAME b) { return a > b; }                                                  \
  KW_INLINE bool __hge(NAME a, NAME b) { return a >= b; }                                                 \
  KW_INLINE bool __hisnan(NAME a) { return isnan(WIDEN(a.bits)); }                                        \
  KW_INLINE bool __hisinf(NAME a) { return isinf(WIDEN(a.bits)); }                                        \
  KW_INLINE NAME hexp(NAME a) { return NAME(expf(WIDEN(a.bits))); }                                       \
  KW_INLINE NAME hexp2(NAME a) { return NAME(exp2f(WIDEN(a.bits))); }                                     \
  KW_INLINE NAME hlog(NAME a) { return NAME(logf(WIDEN(a.bits))); }                                       \
  KW_INLINE NAME hlog2(NAME a) { return NAME(log2f(WIDEN(a.bits))); }                                     \
  KW_INLINE NAME hsqrt(NAME a) { return NAME(sqrtf(WIDEN(a.bits))); }                                     \
  KW_INLINE NAME hrsqrt(NAME a) { return NAME(1.0 / sqrt(static_cast<double>(WIDEN(a.bits)))); }          \
  KW_INLINE NAME hrcp(NAME a) { return NAME(1.0f / WIDEN(a.bits)); }                                      \
  KW_INLINE NAME##2 __hadd2(NAME##2 a, NAME##2 b) { return {a.x + b.x, a.y + b.y}; }                      \
  KW_INLINE NAME##2 __hsub2(NAME##2 a, NAME##2 b) { return {a.x - b.x, a.y - b.y}; }                      \
  KW_INLINE NAME##2 __hmul2(NAME##2 a, NAME##2 b) { return {a.x * b.x, a.y * b.y}; }                      \
  KW_INLINE NAME##2 __hneg2(NAME##2 a) { return {-a.x, -a.y}; }                                           \
  KW_INLINE NAME##2 __hmax2(NAME##2 a, NAME##2 b) { return {__hmax(a.x, b.x), __hmax(a.y, b.y)}; }        \
  KW_INLINE NAME##2 __hmin2(NAME##2 a, NAME##2 b) { return {__hmin(a.x, b.x), __hmin(a.y, b.y)}; }        \
  KW_INLINE NAME##2 __hfma2(NAME##2 a, NAME##2 b, NAME##2 c) {                                            \
    return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};                                                \
  }                                                                                                       \
  KW_INLINE NAME##2 operator+(NAME##2 a, NAME##2 b) { return __hadd2(a, b); }                             \
  KW_INLINE NAME##2 operator-(NAME##2 a, NAME##2 b) { return __hsub2(a, b); }                             \
  KW_INLINE NAME##2 operator*(NAME##2 a, NAME##2 b) { return __hmul2(a, b); }                             \
  KW_INLINE NAME __low2##NAME(NAME##2 a) { return a.x; }                                                  \
  KW_INLINE NAME __high2##NAME(NAME##2 a) { return a.y; }                                                 \
  KW_INLINE float __low2float(NAME##2 a) { return WIDEN(a.x.bits); }                                      \
  KW_INLINE float __high2float(NAME##2 a) { return WIDEN(a.y.bits); }                                     \
  KW_INLINE NAME kw_sim_##NAME(double v, kw_sim::Rounding rounding) {                                     \
    NAME result;                                                                                          \
    result.bits = kw_sim::narrow(v, FORMAT, rounding);                                                    \
    return result;                                                                                        \
  }

#define KW_MEMBER __attribute__((always_inline))
KW_SMALL(__half, kw_sim::k_half, kw_sim::widen_half)
KW_SMALL(__nv_bfloat16, kw_sim::k_bfloat16, kw_sim::widen_bfloat16)
#undef KW_MEMBER
#undef KW_SMALL
#undef KW_FROM_FLOAT16
typedef __half half;
typedef __half2 half2;
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

#define KW_CONVERSIONS(STEM, NAME, WIDEN)                                                                             \
  KW_INLINE NAME __float2##STEM(float v) { return NAME(v); }                                                          \
  KW_INLINE NAME __float2##STEM##_rn(float v) { return NAME(v); }                                                     \
  KW_INLINE NAME __float2##STEM##_rz(float v) { return kw_sim_##NAME(v, kw_sim::Rounding::toward_zero); }             \
  KW_INLINE NAME __float2##STEM##_ru(float v) { return kw_sim_##NAME(v, kw_sim::Rounding::up); }                      \
  KW_INLINE NAME __float2##STEM##_rd(float v) { return kw_sim_##NAME(v, kw_sim::Rounding::down); }                    \
  KW_INLINE NAME __double2##STEM(double v) { return NAME(v); }                                                        \
  KW_INLINE NAME __int2##STEM##_rn(int v) { return NAME(v); }                                                         \
  KW_INLINE NAME __ushort_as_##STEM(unsigned short bits) { NAME v; v.bits = bits; return v; }                         \
  KW_INLINE unsigned short __##STEM##_as_ushort(NAME v) { return v.bits; }                                            \
  KW_INLINE float __##STEM##2float(NAME v) { return WIDEN(v.bits); }
KW_CONVERSIONS(half, __half, kw_sim::widen_half)
KW_CONVERSIONS(bfloat16, __nv_bfloat16, kw_sim::widen_bfloat16)
#undef KW_CONVERSIONS

KW_INLINE int __half2int_rn(half v) { return __float2int_rn(v); }
KW_INLINE int __half2int_rz(half v) { return __float2int_rz(v); }
KW_INLINE half2 make_half2(half x, half y) { return {x, y}; }
KW_INLINE half2 __halves2half2(half x, half y) { return {x, y}; }
KW_INLINE half2 __half2half2(half v) { return {v, v}; }
KW_INLINE half2 __float2half2_rn(float v) { return {half(v), half(v)}; }
KW_INLINE half2 __floats2half2_rn(float x, float y) { return {half(x), half(y)}; }
KW_INLINE half2 __float22half2_rn(float2 v) { return {half(v.x), half(v.y)}; }
KW_INLINE float2 __half22float2(half2 v) { return make_float2(v.x, v.y); }
KW_INLINE half __low2half(half2 v) { return v.x; }
KW_INLINE half __high2half(half2 v) { return v.y; }
KW_INLINE half2 __lowhigh2highlow(half2 v) { return {v.y, v.x}; }
KW_INLINE half2 __lows2half2(half2 a, half2 b) { return {a.x, b.x}; }
KW_INLINE half2 __highs2half2(half2 a, half2 b) { return {a.y, b.y}; }
KW_INLINE int __bfloat162int_rn(nv_bfloat16 v) { return __float2int_rn(v); }
KW_INLINE int __bfloat162int_rz(nv_bfloat16 v) { return __float2int_rz(v); }
KW_INLINE nv_bfloat162 make_bfloat162(nv_bfloat16 x, nv_bfloat16 y) { return {x, y}; }
KW_INLINE nv_bfloat162 __halves2bfloat162(nv_bfloat16 x, nv_bfloat16 y) { return {x, y}; }
KW_INLINE nv_bfloat162 __bfloat162bfloat162(nv_bfloat16 v) { return {v, v}; }
KW_INLINE nv_bfloat162 __float2bfloat162_rn(float v) { return {nv_bfloat16(v), nv_bfloat16(v)}; }
KW_INLINE nv_bfloat162 __floats2bfloat162_rn(float x, float y) { return {nv_bfloat16(x), nv_bfloat16(y)}; }
KW_INLINE nv_bfloat162 __float22bfloat162_rn(float2 v) { return {nv_bfloat16(v.x), nv_bfloat16(v.y)}; }
KW_INLINE float2 __bfloat1622float2(nv_bfloat162 v) { return make_float2(v.x, v.y); }
KW_INLINE nv_bfloat16 __low2bfloat16(nv_bfloat162 v) { return v.x; }
KW_INLINE nv_bfloat16 __high2bfloat16(nv_bfloat162 v) { return v.y; }
KW_INLINE nv_bfloat162 __lowhigh2highlow(nv_bfloat162 v) { return {v.y, v.x}; }
KW_INLINE nv_bfloat162 __lows2bfloat162(nv_bfloat162 a, nv_bfloat162 b) { return {a.x, b.x}; }
KW_INLINE nv_bfloat162 __highs2bfloat162(nv_bfloat162 a, nv_bfloat162 b) { return {a.y, b.y}; }

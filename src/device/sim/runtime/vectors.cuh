#pragma once
// Vectors of two to four elements with the alignment they have on GPUs, and their make functions.

#define KW_VECTOR2(NAME, T, ALIGNMENT)      \
  struct __align__(ALIGNMENT) NAME {        \
    T x, y;                                 \
  };                                        \
  KW_INLINE constexpr NAME make_##NAME(T x, T y) { return NAME{x, y}; }
#define KW_VECTOR(STEM, T, SIZE)                                                                        \
  struct STEM##1 {                                                                                      \
    T x;                                                                                                \
  };                                                                                                    \
  KW_INLINE constexpr STEM##1 make_##STEM##1(T x) { return STEM##1{x}; }                                \
  KW_VECTOR2(STEM##2, T, 2 * SIZE)                                                                      \
  struct STEM##3 {                                                                                      \
    T x, y, z;                                                                                          \
  };                                                                                                    \
  KW_INLINE constexpr STEM##3 make_##STEM##3(T x, T y, T z) { return STEM##3{x, y, z}; }                \
  struct __align__((4 * SIZE < 16 ? 4 * SIZE : 16)) STEM##4 {                                           \
    T x, y, z, w;                                                                                       \
  };                                                                                                    \
  KW_INLINE constexpr STEM##4 make_##STEM##4(T x, T y, T z, T w) { return STEM##4{x, y, z, w}; }

KW_VECTOR(char, signed char, 1)
KW_VECTOR(uchar, unsigned char, 1)
KW_VECTOR(short, short, 2)
KW_VECTOR(ushort, unsigned short, 2)
KW_VECTOR(int, int, 4)
KW_VECTOR(uint, unsigned, 4)
KW_VECTOR(float, float, 4)
KW_VECTOR(long, long, 8)
KW_VECTOR(ulong, unsigned long, 8)
KW_VECTOR(longlong, long long, 8)
KW_VECTOR(ulonglong, unsigned long long, 8)
KW_VECTOR(double, double, 8)
#undef KW_VECTOR
#undef KW_VECTOR2

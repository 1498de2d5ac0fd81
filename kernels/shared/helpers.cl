// Functions that printed mod expressions may call. Python's // and % round towards minus infinity where C's / and %
// round towards zero. Division of integers by zero gives 0, as in the oracle: it must not trap, not least because lanes
// past the last key evaluate the mod too, on indices the user never thought of. Those without vectors are translated to
// CUDA C++ by in_dialect() of codegen/dialect.hpp.

// --- section: floor_div
static inline int floor_div(const int a, const int b) {
  if (b == 0) return 0;
  const int quotient = a / b;
  return quotient - (a % b != 0 && ((a < 0) != (b < 0)));
}

// --- section: floor_mod
static inline int floor_mod(const int a, const int b) {
  if (b == 0) return 0;
  const int remainder = a % b;
  return remainder != 0 && ((remainder < 0) != (b < 0)) ? remainder + b : remainder;
}

// --- section: real_mod
static inline float real_mod(const float a, const float b) {
  const float remainder = fmod(a, b);
  return remainder != 0.0f && ((remainder < 0.0f) != (b < 0.0f)) ? remainder + b : remainder;
}

// --- section: real_floor_div
static inline float real_floor_div(const float a, const float b) {
  return b == 0.0f ? a / b : rint((a - real_mod(a, b)) / b);
}

// --- section: shift_left
static inline int shift_left(const int a, const int by) { return by < 0 || by > 31 ? 0 : a << by; }

// --- section: shift_right
static inline int shift_right(const int a, const int by) { return a >> (by < 0 || by > 31 ? 31 : by); }

// --- section: floor_div16
static inline int16 floor_div16(const int16 a, const int16 b) {
  const int16 safe = select(b, (int16)(1), b == 0);
  const int16 quotient = a / safe;
  // A true lane is -1.
  return (b != 0) & (quotient + ((a != quotient * safe) & ((a < 0) ^ (safe < 0))));
}

// --- section: floor_mod16
static inline int16 floor_mod16(const int16 a, const int16 b) {
  const int16 safe = select(b, (int16)(1), b == 0);
  const int16 remainder = a - a / safe * safe;
  return remainder + (safe & (remainder != 0) & ((remainder < 0) ^ (safe < 0)));
}

// --- section: real_mod16
static inline float16 real_mod16(const float16 a, const float16 b) {
  const float16 remainder = fmod(a, b);
  return select(remainder, remainder + b, (remainder != 0.0f) & ((remainder < 0.0f) ^ (b < 0.0f)));
}

// --- section: real_floor_div16
static inline float16 real_floor_div16(const float16 a, const float16 b) {
  return select(rint((a - real_mod16(a, b)) / b), a / b, b == 0.0f);
}

// --- section: shift_left16
static inline int16 shift_left16(const int16 a, const int16 by) { return (by >= 0) & (by <= 31) & (a << by); }

// --- section: shift_right16
static inline int16 shift_right16(const int16 a, const int16 by) {
  return a >> select(by, (int16)(31), (by < 0) | (by > 31));
}

// --- section: tanh16
// --- A minimax fit of x * P(x*x) / Q(x*x), relative error 2.1e-8 on [-9.02, 9.02], where tanh has reached 1 in float.
// tanh as a rational function, within 2.1e-8 of it before rounding: no branches, one division.
static inline float16 tanh16(float16 x) {
  x = clamp(x, (float16)(-9.02f), (float16)(9.02f));
  const float16 y = x * x;
  float16 p = fma((float16)(1.33190895e-8f), y, (float16)(2.05834975e-5f));
  p = fma(p, y, (float16)(3.49403572e-3f));
  p = fma(p, y, (float16)(0.13379719f));
  p = fma(p, y, (float16)(0.999999979f));
  float16 q = fma((float16)(7.76202766e-7f), y, (float16)(3.2830946e-4f));
  q = fma(q, y, (float16)(0.0258710778f));
  q = fma(q, y, (float16)(0.467130342f));
  q = fma(q, y, (float16)(1.0f));
  return x * p / q;
}

// --- section: to_bf16
// The upper half of the nearest float whose lower half is zero, ties to even. A NaN is made quiet instead: rounding
// could carry it past the exponent.
static inline ushort to_bf16(const float x) {
  const uint bits = as_uint(x);
  const uint nearest = bits + 0x7fffu + (bits >> 16 & 1u);
  return ((bits & 0x7fffffffu) > 0x7f800000u ? bits | 0x400000u : nearest) >> 16;
}

// --- section: to_bf16_16
static inline ushort16 to_bf16_16(const float16 x) {
  const uint16 bits = as_uint16(x);
  const uint16 nearest = bits + 0x7fffu + (bits >> 16 & 1u);
  return convert_ushort16(select(nearest, bits | 0x400000u, (bits & 0x7fffffffu) > 0x7f800000u) >> 16);
}

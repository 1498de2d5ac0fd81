#pragma once
// The number formats of GPUs, bit by bit, on any CPU: half (5 exponent bits, 10 fraction bits), bfloat16 (8, 7) and
// tf32 (8, 10, kept in the upper bits of a float). Every conversion rounds once. Included by the simulator and, as
// text, by every simulated candidate, so it includes nothing.

namespace kw_sim {

enum class Rounding { nearest_even, toward_zero, up, down, nearest_away };

/// Exponent and fraction bits of a format of 16 bits.
struct SmallFormat {
  int exponent_bits;
  int fraction_bits;
};
inline constexpr SmallFormat k_half{5, 10};
inline constexpr SmallFormat k_bfloat16{8, 7};

inline unsigned bits_of(float value) {
  return __builtin_bit_cast(unsigned, value);
}
inline float float_of(unsigned bits) {
  return __builtin_bit_cast(float, bits);
}

/// Whether a magnitude is rounded up, given what is cut off in units of 2^-shift of the last place kept.
inline bool rounds_up(unsigned long long kept, unsigned long long cut, int shift, bool negative, Rounding rounding) {
  const unsigned long long half = 1ULL << (shift - 1);
  switch (rounding) {
    case Rounding::nearest_even:
      return cut > half || (cut == half && (kept & 1) != 0);
    case Rounding::nearest_away:
      return cut >= half;
    case Rounding::up:
      return cut != 0 && !negative;
    case Rounding::down:
      return cut != 0 && negative;
    case Rounding::toward_zero:
      return false;
  }
  return false;
}

/// Rounds once. NaN becomes the one that GPUs produce (all bits but the sign).
inline unsigned short narrow(double value, SmallFormat format, Rounding rounding) {
  const unsigned long long bits = __builtin_bit_cast(unsigned long long, value);
  const bool negative = (bits >> 63) != 0;
  const int fraction = format.fraction_bits;
  const unsigned sign = negative ? 0x8000U : 0U;
  const unsigned infinity = ((1U << format.exponent_bits) - 1U) << fraction;
  if (value != value) return 0x7fff;
  if (((bits >> 52) & 0x7ff) == 0x7ff) return static_cast<unsigned short>(sign | infinity);
  const int least = 2 - (1 << (format.exponent_bits - 1));  // exponent of the smallest normal number
  const int exponent = static_cast<int>((bits >> 52) & 0x7ff) - 1023;
  if (exponent == -1023) return static_cast<unsigned short>(sign);  // no double that small comes from these formats
  const unsigned long long whole = (bits & 0xfffffffffffffULL) | 0x10000000000000ULL;
  int shift = 52 - fraction + (exponent < least ? least - exponent : 0);
  if (shift > 62) shift = 62;
  const unsigned long long kept = whole >> shift;
  const unsigned long long cut = whole & ((1ULL << shift) - 1);
  unsigned result = static_cast<unsigned>(kept);
  if (exponent >= least) {
    result = (static_cast<unsigned>(exponent - least + 1) << fraction) + (result - (1U << fraction));
  }
  if (rounds_up(kept, cut, shift, negative, rounding)) ++result;
  if (result >= infinity) {
    const bool stays_finite = rounding == Rounding::toward_zero || (rounding == Rounding::up && negative) ||
                              (rounding == Rounding::down && !negative);
    result = stays_finite ? infinity - 1 : infinity;
  }
  return static_cast<unsigned short>(sign | result);
}

inline float widen_half(unsigned short half) {
  const unsigned sign = static_cast<unsigned>(half & 0x8000) << 16;
  const unsigned exponent = (half >> 10) & 0x1fU;
  const unsigned fraction = half & 0x3ffU;
  if (exponent == 0x1f) return float_of(sign | 0x7f800000U | (fraction << 13));
  if (exponent != 0) return float_of(sign | ((exponent + 112) << 23) | (fraction << 13));
  const float magnitude = static_cast<float>(fraction) * 0x1p-24F;
  return sign != 0 ? -magnitude : magnitude;
}
inline float widen_bfloat16(unsigned short bits) {
  return float_of(static_cast<unsigned>(bits) << 16);
}

/// As cvt.rna.tf32.f32: to 10 fraction bits, halfway cases away from zero. The lower bits of the result are zero.
inline float round_to_tf32(float value) {
  const unsigned bits = bits_of(value);
  if ((bits & 0x7f800000U) == 0x7f800000U) return value != value ? float_of(0x7fffffffU) : value;
  return float_of((bits + 0x1000U) & ~0x1fffU);
}
/// What a tensor core reads from a register that nobody rounded: the lower bits are ignored.
inline float read_as_tf32(unsigned bits) {
  return float_of(bits & ~0x1fffU);
}

/// x + y with the last bit set when the sum was not exact, so that rounding it again to a narrower format gives what
/// rounding the exact sum once would (Boldo and Melquiond, "Emulation of FMA", 2008).
inline double add_to_odd(double x, double y) {
  const double sum = x + y;
  const double of_y = sum - x;
  const double error = (x - (sum - of_y)) + (y - of_y);
  unsigned long long bits = __builtin_bit_cast(unsigned long long, sum);
  if (error == 0 || error != error || (bits & 1) != 0) return sum;
  const bool away = (error > 0) == (sum > 0);
  bits = away ? bits + 1 : bits - 1;
  return __builtin_bit_cast(double, bits);
}

/// a * b + c, rounded once to the format.
inline unsigned short fused(float a, float b, float c, SmallFormat format) {
  const double product = static_cast<double>(a) * static_cast<double>(b);
  return narrow(add_to_odd(product, static_cast<double>(c)), format, Rounding::nearest_even);
}

}  // namespace kw_sim

// Functions that printed mod expressions may call. Python's // and % round towards minus infinity where C's / and %
// round towards zero. Division of integers by zero gives 0, as in the oracle: it must not trap, not least because lanes
// past the last key evaluate the mod too, on indices the user never thought of.
#include "codegen/kernel_helpers.hpp"

#include "codegen/kernel_capture_helpers.hpp"

namespace kw {
namespace {

constexpr const char* k_floor_div = R"(static inline int floor_div(const int a, const int b) {
  if (b == 0) return 0;
  const int quotient = a / b;
  return quotient - (a % b != 0 && ((a < 0) != (b < 0)));
}
)";

constexpr const char* k_floor_mod = R"(static inline int floor_mod(const int a, const int b) {
  if (b == 0) return 0;
  const int remainder = a % b;
  return remainder != 0 && ((remainder < 0) != (b < 0)) ? remainder + b : remainder;
}
)";

constexpr const char* k_real_mod = R"(static inline float real_mod(const float a, const float b) {
  const float remainder = fmod(a, b);
  return remainder != 0.0f && ((remainder < 0.0f) != (b < 0.0f)) ? remainder + b : remainder;
}
)";

constexpr const char* k_real_floor_div = R"(static inline float real_floor_div(const float a, const float b) {
  return b == 0.0f ? a / b : rint((a - real_mod(a, b)) / b);
}
)";

constexpr const char* k_shift_left =
    R"(static inline int shift_left(const int a, const int by) { return by < 0 || by > 31 ? 0 : a << by; }
)";

constexpr const char* k_shift_right =
    R"(static inline int shift_right(const int a, const int by) { return a >> (by < 0 || by > 31 ? 31 : by); }
)";

constexpr const char* k_floor_div16 = R"(static inline int16 floor_div16(const int16 a, const int16 b) {
  const int16 safe = select(b, (int16)(1), b == 0);
  const int16 quotient = a / safe;
  // A true lane is -1.
  return (b != 0) & (quotient + ((a != quotient * safe) & ((a < 0) ^ (safe < 0))));
}
)";

constexpr const char* k_floor_mod16 = R"(static inline int16 floor_mod16(const int16 a, const int16 b) {
  const int16 safe = select(b, (int16)(1), b == 0);
  const int16 remainder = a - a / safe * safe;
  return remainder + (safe & (remainder != 0) & ((remainder < 0) ^ (safe < 0)));
}
)";

constexpr const char* k_real_mod16 = R"(static inline float16 real_mod16(const float16 a, const float16 b) {
  const float16 remainder = fmod(a, b);
  return select(remainder, remainder + b, (remainder != 0.0f) & ((remainder < 0.0f) ^ (b < 0.0f)));
}
)";

constexpr const char* k_real_floor_div16 = R"(static inline float16 real_floor_div16(const float16 a, const float16 b) {
  return select(rint((a - real_mod16(a, b)) / b), a / b, b == 0.0f);
}
)";

constexpr const char* k_shift_left16 =
    R"(static inline int16 shift_left16(const int16 a, const int16 by) { return (by >= 0) & (by <= 31) & (a << by); }
)";

constexpr const char* k_shift_right16 = R"(static inline int16 shift_right16(const int16 a, const int16 by) {
  return a >> select(by, (int16)(31), (by < 0) | (by > 31));
}
)";

// Minimax fit of x * P(x*x) / Q(x*x), relative error 2.1e-8 on [-9.02, 9.02], where tanh has reached 1 in float.
constexpr const char* k_tanh16 =
    R"(// tanh as a rational function, within 2.1e-8 of it before rounding: no branches, one division.
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
)";

constexpr const char* k_tanh_rational =
    R"(// tanh as a rational function, within 2.1e-8 of it before rounding: no branches, one division.
static inline float tanh_rational(float x) {
  x = fminf(fmaxf(x, -9.02f), 9.02f);
  const float y = x * x;
  float p = fmaf(1.33190895e-8f, y, 2.05834975e-5f);
  p = fmaf(p, y, 3.49403572e-3f);
  p = fmaf(p, y, 0.13379719f);
  p = fmaf(p, y, 0.999999979f);
  float q = fmaf(7.76202766e-7f, y, 3.2830946e-4f);
  q = fmaf(q, y, 0.0258710778f);
  q = fmaf(q, y, 0.467130342f);
  q = fmaf(q, y, 1.0f);
  return __fdividef(x * p, q);
}
)";

constexpr const char* k_to_bf16 =
    R"(// The upper half of the nearest float whose lower half is zero, ties to even. A NaN is made quiet instead: rounding
// could carry it past the exponent.
static inline ushort to_bf16(const float x) {
  const uint bits = as_uint(x);
  const uint nearest = bits + 0x7fffu + (bits >> 16 & 1u);
  return ((bits & 0x7fffffffu) > 0x7f800000u ? bits | 0x400000u : nearest) >> 16;
}
)";

constexpr const char* k_to_bf16_16 = R"(static inline ushort16 to_bf16_16(const float16 x) {
  const uint16 bits = as_uint16(x);
  const uint16 nearest = bits + 0x7fffu + (bits >> 16 & 1u);
  return convert_ushort16(select(nearest, bits | 0x400000u, (bits & 0x7fffffffu) > 0x7f800000u) >> 16);
}
)";

struct ArithmeticHelper {
  KernelHelper helper;
  const char* name;
  const char* source;
};
constexpr ArithmeticHelper k_arithmetic[] = {
    {KernelHelper::floor_div, "floor_div", k_floor_div},
    {KernelHelper::floor_mod, "floor_mod", k_floor_mod},
    {KernelHelper::real_mod, "real_mod", k_real_mod},
    {KernelHelper::real_floor_div, "real_floor_div", k_real_floor_div},
    {KernelHelper::shift_left, "shift_left", k_shift_left},
    {KernelHelper::shift_right, "shift_right", k_shift_right},
    {KernelHelper::floor_div16, "floor_div16", k_floor_div16},
    {KernelHelper::floor_mod16, "floor_mod16", k_floor_mod16},
    {KernelHelper::real_mod16, "real_mod16", k_real_mod16},
    {KernelHelper::real_floor_div16, "real_floor_div16", k_real_floor_div16},
    {KernelHelper::shift_left16, "shift_left16", k_shift_left16},
    {KernelHelper::shift_right16, "shift_right16", k_shift_right16},
    {KernelHelper::tanh16, "tanh16", k_tanh16},
    {KernelHelper::tanh_rational, "tanh_rational", k_tanh_rational},
    {KernelHelper::to_bf16, "to_bf16", k_to_bf16},
    {KernelHelper::to_bf16_16, "to_bf16_16", k_to_bf16_16},
};

const ArithmeticHelper* arithmetic_helper(KernelHelper helper) {
  for (const ArithmeticHelper& known : k_arithmetic)
    if (known.helper == helper) return &known;
  return nullptr;
}

}  // namespace

std::string helper_name(KernelHelper helper) {
  const ArithmeticHelper* arithmetic = arithmetic_helper(helper);
  return arithmetic != nullptr ? arithmetic->name : capture_helper_name(helper);
}

std::string helper_source(std::set<KernelHelper> helpers, SourceLanguage language) {
  if (helpers.count(KernelHelper::real_floor_div) > 0) helpers.insert(KernelHelper::real_mod);
  if (helpers.count(KernelHelper::real_floor_div16) > 0) helpers.insert(KernelHelper::real_mod16);
  const std::set<KernelHelper> asked_for = helpers;
  for (const KernelHelper helper : asked_for)
    for (const KernelHelper needed : capture_helper_needs(helper)) helpers.insert(needed);
  std::string text;
  for (const KernelHelper helper : helpers) {
    const ArithmeticHelper* arithmetic = arithmetic_helper(helper);
    text += arithmetic != nullptr ? in_language(arithmetic->source, language) : capture_helper_source(helper, language);
  }
  return text;
}

}  // namespace kw

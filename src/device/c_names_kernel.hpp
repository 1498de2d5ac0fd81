#pragma once
// For tests: a kernel that compiles where the C library's names mean what they mean to the compiler of this program.

#include <cfloat>
#include <climits>
#include <cmath>
#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "language/kernel_headers.hpp"

namespace kw {

/// Kernel "k" takes two pointers and an int; it includes every header that kernels of the target may include when
/// `with_headers`, else none.
inline std::string c_names_kernel(const std::string& target, bool with_headers) {
  std::string source;
  const auto include = [&](std::string_view header) { source += fmt::format("#include <{}>\n", header); };
  if (with_headers) {
    for (const auto header : language_headers(target)) include(header);
    for (const auto header : k_c_headers) include(header);
  }
  const auto same = [&](const char* name, double value) {
    source += fmt::format("static_assert((double){} == {:a}, \"{}\");\n", name, value, name);
  };
#define KW_SAME(name) same(#name, static_cast<double>(name))
  KW_SAME(CHAR_BIT), KW_SAME(SHRT_MAX), KW_SAME(SHRT_MIN), KW_SAME(USHRT_MAX), KW_SAME(INT_MAX), KW_SAME(INT_MIN);
  KW_SAME(UINT_MAX), KW_SAME(LLONG_MAX), KW_SAME(LLONG_MIN), KW_SAME(INT32_MAX), KW_SAME(INT32_MIN);
  KW_SAME(UINT32_MAX), KW_SAME(INT64_MAX), KW_SAME(INT64_MIN);
  KW_SAME(FLT_MAX), KW_SAME(FLT_MIN), KW_SAME(FLT_EPSILON), KW_SAME(DBL_MAX), KW_SAME(DBL_MIN), KW_SAME(DBL_EPSILON);
  KW_SAME(M_E), KW_SAME(M_LOG2E), KW_SAME(M_LOG10E), KW_SAME(M_LN2), KW_SAME(M_LN10), KW_SAME(M_PI), KW_SAME(M_PI_2);
  KW_SAME(M_1_PI), KW_SAME(M_2_SQRTPI), KW_SAME(M_SQRT2), KW_SAME(M_SQRT1_2);
#undef KW_SAME
  const auto wide = [&](const char* type, std::size_t bytes, bool is_signed) {
    source += fmt::format("static_assert(sizeof({}) == {} && (({})-1 < ({})1) == {}, \"{}\");\n", type, bytes, type,
                          type, is_signed, type);
  };
  wide("int8_t", 1, true), wide("int16_t", 2, true), wide("int32_t", 4, true), wide("int64_t", 8, true);
  wide("uint8_t", 1, false), wide("uint16_t", 2, false), wide("uint32_t", 4, false), wide("uint64_t", 8, false);
  wide("intptr_t", sizeof(std::intptr_t), true), wide("uintptr_t", sizeof(std::uintptr_t), false);
  return source + R"(
extern "C" __global__ void k(const int* in, int* out, int n) {
  const float largest = INFINITY, none = NAN;
  out[threadIdx.x] = largest > FLT_MAX && -largest < -FLT_MAX && none != none;
}
)";
}

}  // namespace kw

#include "language/kernel_words.hpp"

#include <fmt/format.h>

#include "language/language.hpp"

namespace kw {
namespace {

// Lists of words between spaces.

/// Each was given to a kernel, and PoCL 3.1 refused it. It takes barrier and get_global_id.
constexpr std::string_view k_opencl_kernel_words =
    " "
    "INFINITY NAN NULL abs abs_diff acos acosh acospi add_sat all any as_float as_int4 asin asinh asinpi "
    "async_work_group_copy async_work_group_strided_copy atan atan2 atan2pi atanh atanpi atom_add "
    "atomic_add atomic_inc atomic_int auto bitselect bool break case cbrt ceil char char16 char2 char3 "
    "char4 char8 clamp clz const constant continue convert_float convert_int_rte copysign cos cosh cospi "
    "cross ctz default degrees distance do dot double double16 double2 double3 double4 double8 else enum "
    "erf erfc event_t exp exp10 exp2 expm1 extern fabs false fast_distance fast_length fast_normalize "
    "fdim float float16 float2 float3 float4 float8 floor fma fmax fmin fmod for fract frexp generic "
    "get_image_width global goto hadd half half_sqrt hypot if ilogb image1d_t image2d_t image3d_t inline "
    "int int16 int2 int3 int4 int8 intptr_t isequal isfinite isgreater isgreaterequal isinf isless "
    "islessequal islessgreater isnan isnormal isnotequal isordered isunordered kernel ldexp length lgamma "
    "lgamma_r local log log10 log1p log2 logb long long16 long2 long3 long4 long8 mad mad24 mad_hi "
    "mad_sat main max maxmag mem_fence min minmag mix modf mul24 mul_hi nan native_exp nextafter "
    "normalize pipe popcount pow pown powr prefetch private ptrdiff_t radians read_imagef read_only "
    "read_write register remainder remquo reserve_id_t restrict return rhadd rint rootn rotate round "
    "rsqrt sampler_t select short short16 short2 short3 short4 short8 shuffle shuffle2 sign signbit "
    "signed sin sincos sinh sinpi size_t sizeof smoothstep sqrt static step struct sub_sat switch tan "
    "tanh tanpi tgamma true trunc typedef uchar uchar16 uchar2 uchar3 uchar4 uchar8 uint uint16 uint2 "
    "uint3 uint4 uint8 uintptr_t ulong ulong16 ulong2 ulong3 ulong4 ulong8 union unsigned upsample ushort "
    "ushort16 ushort2 ushort3 ushort4 ushort8 vec_step vload4 vload_half void volatile vstore16 "
    "wait_group_events while write_only ";

/// C++17, which CUDA C++ and HIP C++ have alike.
constexpr std::string_view k_cpp_kernel_words =
    " "
    "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t class "
    "compl const const_cast constexpr continue decltype default delete do double dynamic_cast else enum "
    "explicit export extern false float for friend goto if inline int long mutable namespace new noexcept "
    "not not_eq nullptr operator or or_eq private protected public register reinterpret_cast return short "
    "signed sizeof static static_assert static_cast struct switch template this thread_local throw true "
    "try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq ";

}  // namespace

bool is_no_kernel_name(std::string_view name, const Language& language) {
  const std::string_view words = language.has_vector_types ? k_opencl_kernel_words : k_cpp_kernel_words;
  return words.find(fmt::format(" {} ", name)) != std::string_view::npos;
}

}  // namespace kw

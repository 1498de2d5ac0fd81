#include "codegen/source_language.hpp"

#include <fmt/format.h>

#include "base/result.hpp"
#include "codegen/text.hpp"

namespace kw {
namespace {

constexpr const char* k_cuda_exp2 = R"(#ifdef KW_SIM
  return exp2f(x);
#else
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#endif)";

constexpr const char* k_hip_exp2 = R"(#if defined(KW_SIM) || !__has_builtin(__builtin_amdgcn_exp2f)
  return exp2f(x);
#else
  return __builtin_amdgcn_exp2f(x);
#endif)";

constexpr const char* k_hip_definitions =
    R"(
// Lanes of a wavefront run in step: only the compiler has to be kept from moving what they do to shared memory.
__device__ __forceinline__ void sync_lanes() {
#ifdef KW_SIM
  __syncwarp();
#else
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
  __builtin_amdgcn_wave_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
#endif
}
)";

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

const char* opencl_function(ExprOp op) {
  switch (op) {
    case ExprOp::exp:
      return "exp";
    case ExprOp::exp2:
      return "exp2";
    case ExprOp::log:
      return "log";
    case ExprOp::log2:
      return "log2";
    case ExprOp::sqrt:
      return "sqrt";
    case ExprOp::rsqrt:
      return "rsqrt";
    case ExprOp::floor:
      return "floor";
    case ExprOp::tanh:
      return "tanh";
    case ExprOp::erf:
      return "erf";
    case ExprOp::power:
      return "pow";
    case ExprOp::absolute:
      return "fabs";
    case ExprOp::minimum:
      return "min";
    case ExprOp::maximum:
      return "max";
    default:
      break;
  }
  KW_CHECK(false, "expression node {} is no function of reals", static_cast<int>(op));
  return "";
}

}  // namespace

const char* target_of(SourceLanguage language) {
  switch (language) {
    case SourceLanguage::opencl:
      return "opencl";
    case SourceLanguage::cuda:
      return "cuda";
    case SourceLanguage::hip:
      return "hip";
  }
  return "";
}

Fillings warp_fillings(SourceLanguage language) {
  if (language == SourceLanguage::hip) {
    return {{"warp_definitions", k_hip_definitions},
            {"shuffle_xor", "__shfl_xor"},
            {"mask", ""},
            {"sync_lanes", "sync_lanes()"},
            {"fast_exp2", k_hip_exp2}};
  }
  return {{"warp_definitions", "#define ALL_LANES 0xffffffffu"},
          {"shuffle_xor", "__shfl_xor_sync"},
          {"mask", "ALL_LANES, "},
          {"sync_lanes", "__syncwarp()"},
          {"fast_exp2", k_cuda_exp2}};
}

const char* function_qualifier(SourceLanguage language) {
  return is_device_cpp(language) ? "__device__ __forceinline__" : "static inline";
}

std::string in_language(std::string opencl_text, SourceLanguage language) {
  if (language == SourceLanguage::opencl) return opencl_text;
  replace_all(opencl_text, "static inline", function_qualifier(language));
  replace_all(opencl_text, "__global const", "const");
  return opencl_text;
}

const char* element_type(DType dtype, SourceLanguage language) {
  const bool cuda = is_device_cpp(language);
  switch (dtype) {
    case DType::f32:
      return "float";
    case DType::f16:
      return cuda ? "__half" : "half";
    case DType::bf16:
      if (language == SourceLanguage::hip) return "__hip_bfloat16";
      return cuda ? "__nv_bfloat16" : "ushort";
    case DType::i32:
      return "int";
    case DType::boolean:
      return cuda ? "unsigned char" : "uchar";
  }
  return "";
}

std::string element_text(DType dtype, const std::string& buffer, const std::string& offset, SourceLanguage language) {
  const std::string index = without_parentheses(offset);
  std::string element = fmt::format("{}[{}]", buffer, index);
  if (!is_16_bit_float(dtype)) return element;
  if (is_device_cpp(language)) return fmt::format("{}({})", cuda_16_bit_float(dtype, language).to_float, element);
  return dtype == DType::f16 ? fmt::format("vload_half({}, {})", index, buffer)
                             : fmt::format("as_float((uint){} << 16)", element);
}

std::string store_text(DType dtype, const std::string& buffer, const std::string& index, const std::string& value,
                       SourceLanguage language) {
  if (dtype == DType::f16 && language == SourceLanguage::opencl)
    return fmt::format("vstore_half_rte({}, {}, {});", value, index, buffer);
  if (!is_16_bit_float(dtype)) return fmt::format("{}[{}] = {};", buffer, index, value);
  const char* rounding = is_device_cpp(language) ? cuda_16_bit_float(dtype, language).from_float : "to_bf16";
  return fmt::format("{}[{}] = {}({});", buffer, index, rounding, value);
}

const Cuda16BitFloat& cuda_16_bit_float(DType dtype, SourceLanguage language) {
  static constexpr Cuda16BitFloat k_f16 = {"f16",          "cuda_fp16.h",    "__half2",          "__half2float",
                                           "__float2half", "__half22float2", "__floats2half2_rn"};
  static constexpr Cuda16BitFloat k_bf16 = {"bf16",
                                            "cuda_bf16.h",
                                            "__nv_bfloat162",
                                            "__bfloat162float",
                                            "__float2bfloat16",
                                            "__bfloat1622float2",
                                            "__floats2bfloat162_rn"};
  // HIP has most of CUDA's functions under CUDA's names; of two floats it makes a pair by the type's own name.
  static constexpr Cuda16BitFloat k_hip_f16 = {"f16",          "hip/hip_fp16.h", "__half2",          "__half2float",
                                               "__float2half", "__half22float2", "__floats2half2_rn"};
  static constexpr Cuda16BitFloat k_hip_bf16 = {"bf16",
                                                "hip/hip_bf16.h",
                                                "__hip_bfloat162",
                                                "__bfloat162float",
                                                "__float2bfloat16",
                                                "__bfloat1622float2",
                                                "__hip_bfloat162"};
  KW_CHECK(is_16_bit_float(dtype), "{} is no float of 16 bits", to_string(dtype));
  if (language == SourceLanguage::hip) return dtype == DType::f16 ? k_hip_f16 : k_hip_bf16;
  return dtype == DType::f16 ? k_f16 : k_bf16;
}

std::string buffer_parameter(DType dtype, bool writable, const std::string& name, SourceLanguage language) {
  const bool cuda = is_device_cpp(language);
  return fmt::format("{}{}{}* {} {}", cuda ? "" : "__global ", writable ? "" : "const ", element_type(dtype, language),
                     cuda ? "__restrict__" : "restrict", name);
}

std::string real_function(ExprOp op, SourceLanguage language) {
  const std::string name = opencl_function(op);
  if (language == SourceLanguage::opencl) return name;
  if (op == ExprOp::absolute) return "fabsf";
  if (op == ExprOp::minimum || op == ExprOp::maximum) return "f" + name + "f";
  return name + "f";
}

}  // namespace kw

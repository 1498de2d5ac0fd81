// How kernels read captured tensors. An index that is negative counts from the end, and one that is still outside
// becomes the nearest: lanes past the last key ask for elements that do not exist, and must not read outside the
// buffer.
#include "codegen/opencl_capture_helpers.hpp"

#include <fmt/format.h>

#include "base/result.hpp"
#include "codegen/text.hpp"

namespace kw {
namespace {

constexpr int k_element_types = 4;

constexpr const char* k_nearest_index = R"(// Negative indices count from the end; what is outside becomes the nearest.
static inline int nearest_index(const int index, const int extent) {
  return clamp(index < 0 ? index + extent : index, 0, extent - 1);
}
)";

// Not clamp with scalar bounds: Oclgrind 21.10 applies those to the first lane alone and then reports reads that no
// device makes.
constexpr const char* k_nearest_index16 =
    R"(// Negative indices count from the end; what is outside becomes the nearest.
static inline int16 nearest_index16(const int16 index, const int extent) {
  return min(max(index + ((index < 0) & extent), (int16)(0)), (int16)(extent - 1));
}
)";

constexpr const char* k_gather16 = R"(static inline ${vector} ${name}(__global const ${element}* table, const int16 i) {
${elements}${as_mask};
}
)";

constexpr const char* k_load16 = R"(// Elements first to first + 15 of a row, or those nearest to them.
static inline ${vector} ${name}(__global const ${element}* row, const int first, const int extent) {
  if (first >= 0 && first <= extent - 16) return ${load};
  return ${gather16}(row, nearest_index16(first + LANE_INDEX, extent));
}
)";

constexpr const char* k_load16_down =
    R"(// Elements first, first - 1, ... first - 15 of a row, or those nearest to them.
static inline ${vector} ${name}(__global const ${element}* row, const int first, const int extent) {
  if (first >= 15 && first < extent) return (${load}).sfedcba9876543210;
  return ${gather16}(row, nearest_index16(first - LANE_INDEX, extent));
}
)";

constexpr const char* k_bound = R"(// How many elements of a sorted row are ${relation} a value.
static inline int ${name}(__global const ${element}* row, const int extent, const ${scalar} value) {
  int low = 0, high = extent;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (${middle} ${comparison} value)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}
)";

struct Family {
  OpenClHelper first;
  const char* name;
};
constexpr Family k_families[] = {{OpenClHelper::gather16_f32, "gather16"},
                                 {OpenClHelper::load16_f32, "load16"},
                                 {OpenClHelper::load16_down_f32, "load16_down"},
                                 {OpenClHelper::lower_bound_f32, "lower_bound"},
                                 {OpenClHelper::upper_bound_f32, "upper_bound"}};

DType dtype_of(int offset) {
  return static_cast<DType>(static_cast<int>(DType::f32) + offset);
}

struct Member {
  const Family* family = nullptr;
  DType dtype = DType::f32;
};
Member member(OpenClHelper helper) {
  for (const Family& family : k_families) {
    const int offset = static_cast<int>(helper) - static_cast<int>(family.first);
    if (offset >= 0 && offset < k_element_types) return {&family, dtype_of(offset)};
  }
  return {};
}

bool is_real(DType dtype) {
  return dtype == DType::f32 || dtype == DType::f16;
}

std::string sixteen_elements(DType dtype) {
  std::vector<std::string> elements;
  for (const char lane : std::string_view("0123456789abcdef"))
    elements.push_back(opencl_element(dtype, "table", fmt::format("i.s{}", lane)));
  return parameter_list(fmt::format("  return ({}16)(", is_real(dtype) ? "float" : "int"), elements);
}

std::string halves(const std::string& begin) {
  std::vector<std::string> elements;
  for (int i = 0; i < 16; ++i) elements.push_back(fmt::format("vload_half({}, {})", i, begin));
  return fmt::format("(float16)({})", fmt::join(elements, ", "));
}

/// Sixteen neighbouring elements from `begin` on. Halves one by one: PoCL 3.1 compiles vload_half16 and vstore_half16
/// to instructions that fault on addresses which are no multiple of 32 bytes, although OpenCL asks for no more than 2.
std::string load(DType dtype, const std::string& begin) {
  switch (dtype) {
    case DType::f16:
      return halves(begin);
    case DType::boolean:
      return fmt::format("convert_int16(vload16(0, {})) != 0", begin);
    case DType::f32:
    case DType::i32:
      break;
  }
  return fmt::format("vload16(0, {})", begin);
}

}  // namespace

OpenClHelper capture_helper(OpenClHelper first, DType dtype) {
  return static_cast<OpenClHelper>(static_cast<int>(first) + static_cast<int>(dtype) - static_cast<int>(DType::f32));
}

const char* opencl_element_type(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return "float";
    case DType::f16:
      return "half";
    case DType::i32:
      return "int";
    case DType::boolean:
      return "uchar";
  }
  return "";
}

std::string opencl_element(DType dtype, const std::string& buffer, const std::string& offset) {
  if (dtype == DType::f16) return fmt::format("vload_half({}, {})", without_parentheses(offset), buffer);
  return fmt::format("{}[{}]", buffer, without_parentheses(offset));
}

std::string capture_helper_name(OpenClHelper helper) {
  if (helper == OpenClHelper::nearest_index) return "nearest_index";
  if (helper == OpenClHelper::nearest_index16) return "nearest_index16";
  const Member found = member(helper);
  return found.family == nullptr ? "" : fmt::format("{}_{}", found.family->name, to_string(found.dtype));
}

std::vector<OpenClHelper> capture_helper_needs(OpenClHelper helper) {
  const Member found = member(helper);
  if (found.family == nullptr) return {};
  if (found.family->first != OpenClHelper::load16_f32 && found.family->first != OpenClHelper::load16_down_f32)
    return {};
  return {OpenClHelper::nearest_index16, capture_helper(OpenClHelper::gather16_f32, found.dtype)};
}

std::string capture_helper_source(OpenClHelper helper) {
  if (helper == OpenClHelper::nearest_index) return k_nearest_index;
  if (helper == OpenClHelper::nearest_index16) return k_nearest_index16;
  const auto [family, dtype] = member(helper);
  if (family == nullptr) return "";
  const bool mask = dtype == DType::boolean;
  const bool upper = family->first == OpenClHelper::upper_bound_f32;
  const bool down = family->first == OpenClHelper::load16_down_f32;
  Fillings fillings = {{"name", capture_helper_name(helper)},
                       {"element", opencl_element_type(dtype)},
                       {"scalar", is_real(dtype) ? "float" : "int"},
                       {"vector", is_real(dtype) ? "float16" : "int16"},
                       {"as_mask", mask ? " != 0" : ""},
                       {"elements", sixteen_elements(dtype)},
                       {"load", load(dtype, down ? "row + first - 15" : "row + first")},
                       {"gather16", capture_helper_name(capture_helper(OpenClHelper::gather16_f32, dtype))},
                       {"relation", upper ? "at most" : "less than"},
                       {"comparison", upper ? "<=" : "<"},
                       {"middle", opencl_element(dtype, "row", "middle")}};
  if (family->first == OpenClHelper::gather16_f32) return fill(k_gather16, fillings);
  if (family->first == OpenClHelper::load16_f32) return fill(k_load16, fillings);
  return fill(down ? k_load16_down : k_bound, fillings);
}

}  // namespace kw

// How kernels read captured tensors. An index that is negative counts from the end, and one that is still outside
// becomes the nearest: lanes past the last key ask for elements that do not exist, and must not read outside the
// buffer.
#include <fmt/format.h>

#include "base/result.hpp"
#include "codegen/kernel_helpers.hpp"
#include "codegen/text.hpp"
#include "language/kernel_texts.hpp"

namespace kw {
namespace {

constexpr int k_element_types = 5;

std::string capture_text(const char* name) {
  return std::string(kernel_text("shared/captures.cl", name));
}

struct Family {
  KernelHelper first;
  const char* name;
};
constexpr Family k_families[] = {{KernelHelper::gather16_f32, "gather16"},
                                 {KernelHelper::load16_f32, "load16"},
                                 {KernelHelper::load16_down_f32, "load16_down"},
                                 {KernelHelper::lower_bound_f32, "lower_bound"},
                                 {KernelHelper::upper_bound_f32, "upper_bound"}};

DType dtype_of(int offset) {
  return static_cast<DType>(static_cast<int>(DType::f32) + offset);
}

struct Member {
  const Family* family = nullptr;
  DType dtype = DType::f32;
};
Member member(KernelHelper helper) {
  for (const Family& family : k_families) {
    const int offset = static_cast<int>(helper) - static_cast<int>(family.first);
    if (offset >= 0 && offset < k_element_types) return {&family, dtype_of(offset)};
  }
  return {};
}

bool is_real(DType dtype) {
  return dtype == DType::f32 || is_16_bit_float(dtype);
}

std::string sixteen_elements(DType dtype) {
  std::vector<std::string> elements;
  for (const char lane : std::string_view("0123456789abcdef"))
    elements.push_back(element_text(dtype, "table", fmt::format("i.s{}", lane)));
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
    case DType::bf16:
      return fmt::format("as_float16(convert_uint16(vload16(0, {})) << 16)", begin);
    case DType::boolean:
      return fmt::format("convert_int16(vload16(0, {})) != 0", begin);
    case DType::f32:
    case DType::i32:
      break;
  }
  return fmt::format("vload16(0, {})", begin);
}

}  // namespace

KernelHelper capture_helper(KernelHelper first, DType dtype) {
  return static_cast<KernelHelper>(static_cast<int>(first) + static_cast<int>(dtype) - static_cast<int>(DType::f32));
}

std::string capture_helper_name(KernelHelper helper) {
  if (helper == KernelHelper::nearest_index) return "nearest_index";
  if (helper == KernelHelper::nearest_index16) return "nearest_index16";
  const Member found = member(helper);
  return found.family == nullptr ? "" : fmt::format("{}_{}", found.family->name, to_string(found.dtype));
}

std::vector<KernelHelper> capture_helper_needs(KernelHelper helper) {
  const Member found = member(helper);
  if (found.family == nullptr) return {};
  if (found.family->first != KernelHelper::load16_f32 && found.family->first != KernelHelper::load16_down_f32)
    return {};
  return {KernelHelper::nearest_index16, capture_helper(KernelHelper::gather16_f32, found.dtype)};
}

std::string capture_helper_source(KernelHelper helper, Dialect dialect) {
  if (helper == KernelHelper::nearest_index) return in_dialect(capture_text("nearest_index"), dialect);
  if (helper == KernelHelper::nearest_index16) return capture_text("nearest_index16");
  const auto [family, dtype] = member(helper);
  if (family == nullptr) return "";
  const bool mask = dtype == DType::boolean;
  const bool upper = family->first == KernelHelper::upper_bound_f32;
  const bool down = family->first == KernelHelper::load16_down_f32;
  Fillings fillings = {{"name", capture_helper_name(helper)},
                       {"element", element_type(dtype, dialect)},
                       {"scalar", is_real(dtype) ? "float" : "int"},
                       {"vector", is_real(dtype) ? "float16" : "int16"},
                       {"as_mask", mask ? " != 0" : ""},
                       {"elements", sixteen_elements(dtype)},
                       {"load", load(dtype, down ? "row + first - 15" : "row + first")},
                       {"gather16", capture_helper_name(capture_helper(KernelHelper::gather16_f32, dtype))},
                       {"relation", upper ? "at most" : "less than"},
                       {"comparison", upper ? "<=" : "<"},
                       {"middle", element_text(dtype, "row", "middle", dialect)}};
  if (family->first == KernelHelper::gather16_f32) return fill(capture_text("gather16"), fillings);
  if (family->first == KernelHelper::load16_f32) return fill(capture_text("load16"), fillings);
  return down ? fill(capture_text("load16_down"), fillings)
              : in_dialect(fill(capture_text("bound"), fillings), dialect);
}

}  // namespace kw

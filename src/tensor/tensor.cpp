#include "tensor/tensor.hpp"

#include "base/checked.hpp"

namespace kw {

std::string_view to_string(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return "f32";
    case DType::f16:
      return "f16";
    case DType::bf16:
      return "bf16";
    case DType::i32:
      return "i32";
    case DType::boolean:
      return "bool";
  }
  return "?";
}

std::int64_t bytes_per_element(DType dtype) {
  switch (dtype) {
    case DType::boolean:
      return 1;
    case DType::f16:
    case DType::bf16:
      return 2;
    case DType::f32:
    case DType::i32:
      break;
  }
  return 4;
}

bool is_16_bit_float(DType dtype) {
  return dtype == DType::f16 || dtype == DType::bf16;
}

bool is_float(DType dtype) {
  return dtype == DType::f32 || is_16_bit_float(dtype);
}

double unit_roundoff(DType dtype) {
  if (dtype == DType::f16) return 0x1.0p-11;
  return dtype == DType::bf16 ? 0x1.0p-8 : 0x1.0p-24;
}

std::int64_t row_length_of(const TensorSpec& tensor, const Axes& axes) {
  return tensor.axes.empty() ? 1 : axes.find(tensor.axes.back())->second;
}

Result<std::int64_t> element_count(const TensorSpec& tensor, const Axes& axes) {
  std::int64_t count = 1;
  for (const auto& name : tensor.axes) {
    const auto axis = axes.find(name);
    KW_CHECK(axis != axes.end(), "tensor {} has no extent for its axis {}", tensor.name, name);
    const auto product = checked_mul(count, axis->second);
    if (!product) return fail(errc::overflow, "tensor {} has more elements than 63 bits can count", tensor.name);
    count = *product;
  }
  return count;
}

}  // namespace kw

#pragma once
// The element types of PyTorch, and which one an operation on two of them has.

#include <cstdint>
#include <optional>
#include <string_view>

namespace kw {

/// In the order of their names' first appearance in files. Stored nowhere yet.
enum class ElementType : std::uint8_t {
  boolean = 1,
  uint8 = 2,
  int8 = 3,
  int16 = 4,
  int32 = 5,
  int64 = 6,
  float16 = 7,
  bfloat16 = 8,
  float32 = 9,
  float64 = 10,
};

/// "float32", as PyTorch calls it without "torch.".
[[nodiscard]] std::string_view to_string(ElementType type);
/// Also by PyTorch's other names: "float", "half", "long", ...
[[nodiscard]] std::optional<ElementType> element_type_named(std::string_view name);
[[nodiscard]] std::int64_t bytes_per_element(ElementType type);
[[nodiscard]] bool is_floating(ElementType type);

/// torch.promote_types for two tensors of the same kind (both with axes, or both without).
[[nodiscard]] ElementType promoted(ElementType a, ElementType b);
/// 0 for bool, 1 for integers, 2 for floats: a scalar or a tensor without axes changes the type of a tensor with axes
/// only when it is of a higher category (https://pytorch.org/docs/stable/tensor_attributes.html#type-promotion-doc).
[[nodiscard]] int category_of(ElementType type);

}  // namespace kw

#include "program/graph/element_type.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace kw {
namespace {

struct ElementTypeRow {
  ElementType type;
  std::string_view name;
  std::string_view other_name;
  std::int64_t bytes;
};
constexpr std::array<ElementTypeRow, 10> k_element_types = {{{ElementType::boolean, "bool", "bool", 1},
                                                             {ElementType::uint8, "uint8", "uint8", 1},
                                                             {ElementType::int8, "int8", "int8", 1},
                                                             {ElementType::int16, "int16", "short", 2},
                                                             {ElementType::int32, "int32", "int", 4},
                                                             {ElementType::int64, "int64", "long", 8},
                                                             {ElementType::float16, "float16", "half", 2},
                                                             {ElementType::bfloat16, "bfloat16", "bfloat16", 2},
                                                             {ElementType::float32, "float32", "float", 4},
                                                             {ElementType::float64, "float64", "double", 8}}};

const ElementTypeRow& row_of(ElementType type) {
  return k_element_types[static_cast<std::size_t>(type) - 1];
}

}  // namespace

std::string_view to_string(ElementType type) {
  return row_of(type).name;
}

std::optional<ElementType> element_type_named(std::string_view name) {
  for (const auto& row : k_element_types) {
    if (row.name == name || row.other_name == name) return row.type;
  }
  return std::nullopt;
}

std::int64_t bytes_per_element(ElementType type) {
  return row_of(type).bytes;
}

bool is_floating(ElementType type) {
  return category_of(type) == 2;
}

int category_of(ElementType type) {
  if (type == ElementType::boolean) return 0;
  return type >= ElementType::float16 ? 2 : 1;
}

ElementType promoted(ElementType a, ElementType b) {
  if (a == b) return a;
  if (category_of(a) != category_of(b)) return category_of(a) > category_of(b) ? a : b;
  const auto [low, high] = std::minmax(a, b);
  if (low == ElementType::float16 && high == ElementType::bfloat16) return ElementType::float32;
  // No other pair of integers has one that neither holds: uint8 and int8 meet in int16.
  if (low == ElementType::uint8 && high == ElementType::int8) return ElementType::int16;
  return high;
}

}  // namespace kw

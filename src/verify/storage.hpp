#pragma once
// Values as buffers hold them: 4-byte floats and integers, 2-byte halves and bfloats, 1-byte booleans.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "spec/tensor.hpp"

namespace kw {

/// The nearest values that a tensor of this type can hold.
void round_to(DType dtype, std::vector<float>& values);
/// `values` as `dtype` stores them; they were rounded by round_to.
[[nodiscard]] std::vector<std::byte> stored(DType dtype, std::span<const float> values);
/// The element at `index` of a buffer of `dtype`.
[[nodiscard]] double stored_element(DType dtype, std::span<const std::byte> bytes, std::size_t index);

/// Fills with `poison`, of which the last may be cut off.
void fill_poison(std::span<std::byte> bytes, std::uint32_t poison);
/// Whether the element still has the bits that fill_poison gave it.
[[nodiscard]] bool is_poison(DType dtype, std::span<const std::byte> bytes, std::uint32_t poison, std::size_t index);

}  // namespace kw

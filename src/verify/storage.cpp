#include "verify/storage.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/bfloat.hpp"
#include "base/half.hpp"

namespace kw {
namespace {

template <typename Bits>
void store(std::vector<std::byte>& bytes, std::size_t index, Bits bits) {
  std::memcpy(bytes.data() + index * sizeof bits, &bits, sizeof bits);
}

template <typename Bits>
Bits load(std::span<const std::byte> bytes, std::size_t index) {
  Bits bits{};
  std::memcpy(&bits, bytes.data() + index * sizeof bits, sizeof bits);
  return bits;
}

std::byte poison_byte(std::uint32_t poison, std::size_t offset) {
  return std::bit_cast<std::array<std::byte, sizeof poison>>(poison)[offset % sizeof poison];
}

}  // namespace

void round_to(DType dtype, std::vector<float>& values) {
  if (dtype == DType::f16)
    for (float& value : values) value = rounded_to_half(value);
  else if (dtype == DType::bf16)
    for (float& value : values) value = rounded_to_bfloat(value);
}

std::vector<std::byte> stored(DType dtype, std::span<const float> values) {
  std::vector<std::byte> bytes(values.size() * static_cast<std::size_t>(bytes_per_element(dtype)));
  switch (dtype) {
    case DType::f32:
      std::memcpy(bytes.data(), values.data(), bytes.size());
      break;
    case DType::f16:
      for (std::size_t i = 0; i < values.size(); ++i) store(bytes, i, half_bits(values[i]));
      break;
    case DType::bf16:
      for (std::size_t i = 0; i < values.size(); ++i) store(bytes, i, bfloat_bits(values[i]));
      break;
    case DType::i32:
      for (std::size_t i = 0; i < values.size(); ++i) store(bytes, i, static_cast<std::int32_t>(values[i]));
      break;
    case DType::boolean:
      for (std::size_t i = 0; i < values.size(); ++i) bytes[i] = std::byte{values[i] != 0.0F};
      break;
  }
  return bytes;
}

double stored_element(DType dtype, std::span<const std::byte> bytes, std::size_t index) {
  switch (dtype) {
    case DType::f32:
      return static_cast<double>(load<float>(bytes, index));
    case DType::f16:
      return static_cast<double>(half_value(load<std::uint16_t>(bytes, index)));
    case DType::bf16:
      return static_cast<double>(bfloat_value(load<std::uint16_t>(bytes, index)));
    case DType::i32:
      return load<std::int32_t>(bytes, index);
    case DType::boolean:
      return static_cast<double>(load<std::uint8_t>(bytes, index));
  }
  return std::nan("");
}

void fill_poison(std::span<std::byte> bytes, std::uint32_t poison) {
  for (std::size_t i = 0; i < bytes.size(); i += sizeof poison) {
    std::memcpy(bytes.data() + i, &poison, std::min(sizeof poison, bytes.size() - i));
  }
}

bool is_poison(DType dtype, std::span<const std::byte> bytes, std::uint32_t poison, std::size_t index) {
  const auto size = static_cast<std::size_t>(bytes_per_element(dtype));
  for (std::size_t i = index * size; i < (index + 1) * size; ++i) {
    if (bytes[i] != poison_byte(poison, i)) return false;
  }
  return true;
}

}  // namespace kw

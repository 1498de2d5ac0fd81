#include "verify/checking/storage.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace kw {
namespace {

template <typename Bits>
void store(std::vector<std::byte>& bytes, std::size_t index, Bits bits) {
  std::memcpy(bytes.data() + index * sizeof bits, &bits, sizeof bits);
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
  return with_storage(dtype,
                      [&](auto type) { return type.number(bits_at<typename decltype(type)::Bits>(bytes, index)); });
}

std::vector<double> stored_values(DType dtype, std::span<const std::byte> bytes) {
  return with_storage(dtype, [&](auto type) {
    using Bits = typename decltype(type)::Bits;
    std::vector<double> values(bytes.size() / sizeof(Bits));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = type.number(bits_at<Bits>(bytes, i));
    return values;
  });
}

void fill_poison(std::span<std::byte> bytes, std::uint32_t poison) {
  // A pattern of a page, again and again: what takes its time is the memory.
  std::array<std::uint32_t, 1024> page{};
  page.fill(poison);
  for (std::size_t i = 0; i < bytes.size(); i += sizeof page) {
    std::memcpy(bytes.data() + i, page.data(), std::min(sizeof page, bytes.size() - i));
  }
}

bool is_poison(DType dtype, std::span<const std::byte> bytes, std::uint32_t poison, std::size_t index) {
  return with_storage(dtype, [&](auto type) {
    using Bits = typename decltype(type)::Bits;
    return bits_at<Bits>(bytes, index) == poison_at<Bits>(poison, index);
  });
}

}  // namespace kw

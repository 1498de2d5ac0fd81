#include "verify/checking/storage.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

#include "base/zeros.hpp"

namespace kw {
namespace {

constexpr std::size_t k_bytes_per_part = std::size_t{1} << 20;

template <typename Bits>
void store(std::byte* bytes, std::size_t index, Bits bits) {
  std::memcpy(bytes + index * sizeof bits, &bits, sizeof bits);
}

/// A length that the compiler knows: it makes vector code of loops over it.
constexpr std::size_t k_block = 64;

template <float (*round)(float)>
void round_each(std::span<float> values, const ParallelFor& parallel) {
  for_parts(parallel, values.size(), k_elements_per_part, [&](std::size_t, std::size_t begin, std::size_t end) {
    float* value = values.data() + begin;
    float* const last = values.data() + end;
    for (; last - value >= static_cast<std::ptrdiff_t>(k_block); value += k_block) {
      for (std::size_t i = 0; i < k_block; ++i) value[i] = round(value[i]);
    }
    for (; value != last; ++value) *value = round(*value);
  });
}

/// By way of a block of their own, which overlaps with neither.
template <std::uint16_t (*bits_of)(float)>
void store_16_bits(std::span<const float> values, std::byte* bytes) {
  std::array<std::uint16_t, k_block> block;
  std::size_t at = 0;
  for (; at + k_block <= values.size(); at += k_block) {
    const float* const from = values.data() + at;
    for (std::size_t i = 0; i < k_block; ++i) block[i] = bits_of(from[i]);
    std::memcpy(bytes + at * sizeof(std::uint16_t), block.data(), sizeof block);
  }
  for (; at < values.size(); ++at) store(bytes, at, bits_of(values[at]));
}

void store_all(DType dtype, std::span<const float> values, std::byte* bytes) {
  switch (dtype) {
    case DType::f32:
      std::memcpy(bytes, values.data(), values.size_bytes());
      break;
    case DType::f16:
      store_16_bits<half_bits>(values, bytes);
      break;
    case DType::bf16:
      store_16_bits<bfloat_bits>(values, bytes);
      break;
    case DType::i32:
      for (std::size_t i = 0; i < values.size(); ++i) store(bytes, i, static_cast<std::int32_t>(values[i]));
      break;
    case DType::boolean:
      for (std::size_t i = 0; i < values.size(); ++i) bytes[i] = std::byte{values[i] != 0.0F};
      break;
  }
}

}  // namespace

void round_to(DType dtype, std::span<float> values, const ParallelFor& parallel) {
  if (dtype == DType::f16) round_each<rounded_to_half>(values, parallel);
  if (dtype == DType::bf16) round_each<rounded_to_bfloat>(values, parallel);
}

std::vector<std::byte> stored(DType dtype, std::span<const float> values, const ParallelFor& parallel,
                              std::vector<std::byte> used) {
  const auto width = static_cast<std::size_t>(bytes_per_element(dtype));
  const std::size_t length = values.size() * width;
  auto bytes = used.size() == length ? std::move(used) : zeros<std::byte>(length, parallel);
  for_parts(parallel, values.size(), k_elements_per_part, [&](std::size_t, std::size_t begin, std::size_t end) {
    store_all(dtype, values.subspan(begin, end - begin), bytes.data() + begin * width);
  });
  return bytes;
}

double stored_element(DType dtype, std::span<const std::byte> bytes, std::size_t index) {
  return with_storage(dtype,
                      [&](auto type) { return type.number(bits_at<typename decltype(type)::Bits>(bytes, index)); });
}

std::vector<double> stored_values(DType dtype, std::span<const std::byte> bytes, const ParallelFor& parallel) {
  return with_storage(dtype, [&](auto type) {
    using Bits = typename decltype(type)::Bits;
    auto values = zeros<double>(bytes.size() / sizeof(Bits), parallel);
    for_parts(parallel, values.size(), k_elements_per_part, [&](std::size_t, std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) values[i] = type.number(bits_at<Bits>(bytes, i));
    });
    return values;
  });
}

void copy_bytes(std::span<std::byte> to, std::span<const std::byte> from, const ParallelFor& parallel) {
  for_parts(parallel, from.size(), k_bytes_per_part, [&](std::size_t, std::size_t begin, std::size_t end) {
    std::memcpy(to.data() + begin, from.data() + begin, end - begin);
  });
}

bool same_bytes(std::span<const std::byte> a, std::span<const std::byte> b, const ParallelFor& parallel) {
  std::atomic<bool> same{a.size() == b.size()};
  if (!same) return false;
  for_parts(parallel, a.size(), k_bytes_per_part, [&](std::size_t, std::size_t begin, std::size_t end) {
    if (std::memcmp(a.data() + begin, b.data() + begin, end - begin) != 0) same = false;
  });
  return same;
}

void fill_poison(std::span<std::byte> bytes, std::uint32_t poison, const ParallelFor& parallel) {
  // A pattern of a page, again and again: what takes its time is the memory.
  std::array<std::uint32_t, 1024> page{};
  page.fill(poison);
  static_assert(k_bytes_per_part % sizeof page == 0);
  for_parts(parallel, bytes.size(), k_bytes_per_part, [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; i += sizeof page) {
      std::memcpy(bytes.data() + i, page.data(), std::min(sizeof page, end - i));
    }
  });
}

bool is_poison(DType dtype, std::span<const std::byte> bytes, std::uint32_t poison, std::size_t index) {
  return with_storage(dtype, [&](auto type) {
    using Bits = typename decltype(type)::Bits;
    return bits_at<Bits>(bytes, index) == poison_at<Bits>(poison, index);
  });
}

}  // namespace kw

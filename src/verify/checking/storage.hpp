#pragma once
// Values as buffers hold them: 4-byte floats and integers, 2-byte halves and bfloats, 1-byte booleans.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "base/bfloat.hpp"
#include "base/half.hpp"
#include "base/parallel.hpp"
#include "tensor/tensor.hpp"

namespace kw {

/// The nearest values that a tensor of this type can hold.
void round_to(DType dtype, std::span<float> values, const ParallelFor& parallel = serial_for);
/// `values` as `dtype` stores them; they were rounded by round_to. In the memory of `used` where that is as large.
[[nodiscard]] std::vector<std::byte> stored(DType dtype, std::span<const float> values,
                                            const ParallelFor& parallel = serial_for, std::vector<std::byte> used = {});
/// Element types as buffers hold them: their bits, the number that these are, and whether it is none. For loops over
/// many elements.
struct StoredF32 {
  static constexpr DType dtype = DType::f32;
  using Bits = std::uint32_t;
  static double number(Bits bits) { return static_cast<double>(std::bit_cast<float>(bits)); }
  static constexpr bool is_nan(Bits bits) { return (bits & 0x7fffffffU) > 0x7f800000U; }
};
struct StoredF16 {
  static constexpr DType dtype = DType::f16;
  using Bits = std::uint16_t;
  static double number(Bits bits) { return static_cast<double>(half_value(bits)); }
  static constexpr bool is_nan(Bits bits) { return (bits & 0x7fffU) > 0x7c00U; }
};
struct StoredBf16 {
  static constexpr DType dtype = DType::bf16;
  using Bits = std::uint16_t;
  static double number(Bits bits) { return static_cast<double>(bfloat_value(bits)); }
  static constexpr bool is_nan(Bits bits) { return (bits & 0x7fffU) > 0x7f80U; }
};
struct StoredI32 {
  static constexpr DType dtype = DType::i32;
  using Bits = std::uint32_t;
  static double number(Bits bits) { return static_cast<double>(static_cast<std::int32_t>(bits)); }
  static constexpr bool is_nan(Bits) { return false; }
};
struct StoredBoolean {
  static constexpr DType dtype = DType::boolean;
  using Bits = std::uint8_t;
  static double number(Bits bits) { return static_cast<double>(bits); }
  static constexpr bool is_nan(Bits) { return false; }
};

/// Calls use(Stored{}) with the type above that stands for `dtype`, and returns what it returns.
template <typename Use>
auto with_storage(DType dtype, const Use& use) {
  switch (dtype) {
    case DType::f16:
      return use(StoredF16{});
    case DType::bf16:
      return use(StoredBf16{});
    case DType::i32:
      return use(StoredI32{});
    case DType::boolean:
      return use(StoredBoolean{});
    case DType::f32:
      break;
  }
  return use(StoredF32{});
}

/// The bits of the element at `index`.
template <typename Bits>
[[nodiscard]] Bits bits_at(std::span<const std::byte> bytes, std::size_t index) {
  Bits bits{};
  std::memcpy(&bits, bytes.data() + index * sizeof bits, sizeof bits);
  return bits;
}
/// Those that fill_poison gives it; the lowest byte of `poison` comes first in memory.
template <typename Bits>
[[nodiscard]] constexpr Bits poison_at(std::uint32_t poison, std::size_t index) {
  static_assert(std::endian::native == std::endian::little);
  return static_cast<Bits>(poison >> (index * sizeof(Bits) % sizeof poison * 8));
}

/// The element at `index` of a buffer of `dtype`.
[[nodiscard]] double stored_element(DType dtype, std::span<const std::byte> bytes, std::size_t index);

/// All elements as numbers.
[[nodiscard]] std::vector<double> stored_values(DType dtype, std::span<const std::byte> bytes,
                                                const ParallelFor& parallel = serial_for);

/// Copies of bytes, their comparison and a pattern in them, by all threads: memory is what takes the time. Both spans
/// are as long.
void copy_bytes(std::span<std::byte> to, std::span<const std::byte> from, const ParallelFor& parallel);
[[nodiscard]] bool same_bytes(std::span<const std::byte> a, std::span<const std::byte> b, const ParallelFor& parallel);
/// Fills with `poison`, of which the last may be cut off.
void fill_poison(std::span<std::byte> bytes, std::uint32_t poison, const ParallelFor& parallel = serial_for);
/// Whether the element still has the bits that fill_poison gave it.
[[nodiscard]] bool is_poison(DType dtype, std::span<const std::byte> bytes, std::uint32_t poison, std::size_t index);

}  // namespace kw

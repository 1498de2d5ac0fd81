#include "base/random_tensor.hpp"

#include <algorithm>
#include <bit>

#include "base/normal.hpp"
#include "base/rng.hpp"

namespace kw {
namespace {

using Numbers = DrawRule::Numbers;
using RowScales = DrawRule::RowScales;

/// What spikes are drawn with beside the numbers.
constexpr std::uint64_t k_spike_key = 0x3c6ef372fe94f82bULL;
constexpr float k_spike = 6.0F;
/// One row in 2^5.
constexpr unsigned k_spike_bits = 5;

/// From 32 bits.
float uniform_number(std::uint64_t bits) {
  return static_cast<float>(bits >> 8 & 0xffffffU) * 0x1.0p-24F;
}

/// Two numbers are made of one draw of 64 bits, as of normal numbers.
void fill_uniform(std::span<float> values, std::uint64_t key, std::uint64_t first) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint64_t place = first + i;
    values[i] = uniform_number(random_bits(key, place / 2) >> (place % 2 * 32));
  }
}

/// 2^(4 p - 2) at p = 0, 1/4, 1/2, 3/4 and 1 of the sequence, and linear between.
float growing_scale(std::uint64_t position, std::uint64_t sequence) {
  if (sequence == 1) return 4.0F;
  const std::uint64_t piece = 4 * position / (sequence - 1);
  const std::uint64_t within = 4 * position % (sequence - 1);
  const float fraction = static_cast<float>(within) / static_cast<float>(sequence - 1);
  return 0.25F * static_cast<float>(1U << piece) * (1.0F + fraction);
}

bool keeps_numbers(const DrawRule& rule) {
  return rule.rows == RowScales::alike && rule.scale == 1.0F && rule.shift == 0.0F && rule.late_shift == 0.0F;
}

}  // namespace

std::array<std::uint64_t, 7> words_of(const RandomTensor& tensor) {
  const DrawRule& rule = tensor.rule;
  const auto bits = [](float value) { return std::uint64_t{std::bit_cast<std::uint32_t>(value)}; };
  return {tensor.key,
          static_cast<std::uint64_t>(rule.numbers),
          static_cast<std::uint64_t>(rule.rows),
          static_cast<std::uint64_t>(tensor.row_length),
          static_cast<std::uint64_t>(tensor.sequence),
          bits(rule.scale) | bits(rule.shift) << 32,
          bits(rule.late_shift)};
}

float scale_of_row(const RandomTensor& tensor, std::uint64_t row) {
  const DrawRule& rule = tensor.rule;
  if (rule.rows == RowScales::alike) return rule.scale;
  if (rule.rows == RowScales::growing) {
    const auto sequence = static_cast<std::uint64_t>(tensor.sequence);
    return rule.scale * growing_scale(row % sequence, sequence);
  }
  const bool is_spike = random_bits(tensor.key ^ k_spike_key, row) >> (64 - k_spike_bits) == 0;
  return is_spike ? rule.scale * k_spike : rule.scale;
}

float shift_of_row(const RandomTensor& tensor, std::uint64_t row) {
  const auto sequence = static_cast<std::uint64_t>(tensor.sequence);
  const bool late = sequence == 1 || 2 * (row % sequence) > sequence - 1;
  return late ? tensor.rule.late_shift : tensor.rule.shift;
}

void fill_random(std::span<float> values, const RandomTensor& tensor, std::uint64_t first) {
  if (tensor.rule.numbers == Numbers::uniform) {
    fill_uniform(values, tensor.key, first);
  } else {
    fill_normal(values, tensor.key, first);
  }
  if (keeps_numbers(tensor.rule)) return;
  const auto length = static_cast<std::uint64_t>(tensor.row_length);
  for (std::size_t begin = 0; begin < values.size();) {
    const std::uint64_t place = first + begin;
    const std::uint64_t row = place / length;
    const std::size_t end = std::min<std::size_t>(values.size(), begin + (row + 1) * length - place);
    const float scale = scale_of_row(tensor, row);
    const float shift = shift_of_row(tensor, row);
    for (float& value : values.subspan(begin, end - begin)) value = value * scale + shift;
    begin = end;
  }
}

}  // namespace kw

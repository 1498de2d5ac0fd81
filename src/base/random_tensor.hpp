#pragma once
// Tensors of random numbers of which every element depends on a rule, a key and its own place alone (normal.hpp): a
// device draws what the host would have copied to it, and the host draws of it only what is looked at. Every operation
// is rounded by itself, so that both agree in every bit (verify/processes/number_kernels.cu).

#include <array>
#include <cstdint>
#include <span>

namespace kw {

/// number * scale * scale of the row + shift of the row, where a row is the innermost axis.
struct DrawRule {
  enum class Numbers : std::uint8_t {
    normal = 1,   ///< standard normal
    uniform = 2,  ///< [0, 1), multiples of 2^-24
  };
  enum class RowScales : std::uint8_t {
    alike = 1,    ///< 1
    spikes = 2,   ///< 6 for one row in 32, drawn; 1 for the others
    growing = 3,  ///< from 1/4 to 4 along the sequence, in four pieces that are linear in the position
  };
  Numbers numbers = Numbers::normal;
  RowScales rows = RowScales::alike;
  float scale = 1;
  float shift = 0;       ///< of rows in the first half of the sequence, the middle one with them
  float late_shift = 0;  ///< of the others, and of all where the sequence is one row long
  friend bool operator==(const DrawRule&, const DrawRule&) = default;
};

/// All elements of a tensor, in row-major order.
struct RandomTensor {
  DrawRule rule;
  std::uint64_t key = 0;
  std::int64_t row_length = 1;  ///< elements
  std::int64_t sequence = 1;    ///< rows: the extent of the axis outside of the innermost
  friend bool operator==(const RandomTensor&, const RandomTensor&) = default;
};

/// Those as a device's kernels take them: key, numbers, rows, row length, sequence, the bits of the scale with those of
/// the shift above them, the bits of the late shift.
[[nodiscard]] std::array<std::uint64_t, 7> words_of(const RandomTensor& tensor);

/// What the elements of the row of that index, counted over the whole tensor, are multiplied by, and moved by.
[[nodiscard]] float scale_of_row(const RandomTensor& tensor, std::uint64_t row);
[[nodiscard]] float shift_of_row(const RandomTensor& tensor, std::uint64_t row);

/// Fills `values` with the elements `first`, `first` + 1, ... of the tensor, in f32.
void fill_random(std::span<float> values, const RandomTensor& tensor, std::uint64_t first = 0);

}  // namespace kw

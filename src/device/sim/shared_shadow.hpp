#pragma once
// The shadow cells of a block's shared memory, with the answers of one cell per byte at the price of one per word.
// Memory that is touched only in whole aligned words, as tiles are, needs one cell a word: a chunk of it begins with
// the widest words and is divided when something narrower touches it, each part with what the whole has seen.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "device/sim/shadow.hpp"

namespace kw::sim {

/// Not thread-safe: shared memory is simulated by one host thread.
class SharedShadow {
 public:
  /// For a launch with `bytes` of shared memory at `begin`. Cells keep stamps of earlier launches, which are older than
  /// all to come and so ordered before them.
  void begin_launch(const std::byte* begin, std::size_t bytes);

  /// Calls use(cell) for every cell of [address, address + bytes), which lies in the shared memory.
  template <typename Use>
  void each_cell(const std::byte* address, std::size_t bytes, const Use& use) {
    std::size_t first = reinterpret_cast<std::uintptr_t>(address) - base_;
    while (bytes > 0) {
      const std::size_t chunk = first / k_chunk_bytes;
      const std::size_t inside = first % k_chunk_bytes;
      const std::size_t part = std::min(bytes, k_chunk_bytes - inside);
      const auto fits = static_cast<std::uint8_t>(std::countr_zero(inside | part));
      if (fits < word_bits_[chunk]) divide(chunk, fits);
      const unsigned bits = word_bits_[chunk];
      Cell* cell = &cells_[chunk * k_chunk_bytes + (inside >> bits)];
      for (Cell* const end = cell + (part >> bits); cell != end; ++cell) use(*cell);
      first += part;
      bytes -= part;
    }
  }

 private:
  static constexpr std::size_t k_chunk_bytes = 256;
  static constexpr std::uint8_t k_widest_bits = 4;  ///< 16 bytes, the longest access there is

  /// Words of 2^bits bytes from now on.
  void divide(std::size_t chunk, std::uint8_t bits);

  std::uintptr_t base_ = 0;              ///< a multiple of the widest word
  std::vector<std::uint8_t> word_bits_;  ///< per chunk: the logarithm of its word's bytes
  std::vector<Cell> cells_;              ///< k_chunk_bytes of each chunk, the first of them in use
};

}  // namespace kw::sim

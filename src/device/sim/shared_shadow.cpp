#include "device/sim/shared_shadow.hpp"

namespace kw::sim {

void SharedShadow::begin_launch(const std::byte* begin, std::size_t bytes) {
  constexpr std::uintptr_t k_widest = std::uintptr_t{1} << k_widest_bits;
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  base_ = address / k_widest * k_widest;
  const std::size_t chunks = (address - base_ + bytes + k_chunk_bytes - 1) / k_chunk_bytes;
  word_bits_.assign(chunks, k_widest_bits);
  if (cells_.size() < chunks * k_chunk_bytes) cells_ = std::vector<Cell>(chunks * k_chunk_bytes);
}

void SharedShadow::divide(std::size_t chunk, std::uint8_t bits) {
  const unsigned narrower = word_bits_[chunk] - bits;
  Cell* const cells = &cells_[chunk * k_chunk_bytes];
  // From the end: a part never lies before its whole.
  for (std::size_t part = k_chunk_bytes >> bits; part-- > 0;) {
    const Cell& whole = cells[part >> narrower];
    cells[part].writer.store(whole.writer.load(std::memory_order_relaxed), std::memory_order_relaxed);
    cells[part].reader.store(whole.reader.load(std::memory_order_relaxed), std::memory_order_relaxed);
    cells[part].other_reader.store(whole.other_reader.load(std::memory_order_relaxed), std::memory_order_relaxed);
    cells[part].writer_place.store(whole.writer_place.load(std::memory_order_relaxed), std::memory_order_relaxed);
    cells[part].reader_place.store(whole.reader_place.load(std::memory_order_relaxed), std::memory_order_relaxed);
    cells[part].other_place.store(whole.other_place.load(std::memory_order_relaxed), std::memory_order_relaxed);
  }
  word_bits_[chunk] = bits;
}

}  // namespace kw::sim

#pragma once
// Large vectors of zeros, made by all threads.

#include <cstddef>
#include <span>
#include <vector>

#include "base/parallel.hpp"

namespace kw {

/// Asks the system to back that memory with large pages where it can: it then clears 2 MiB at a first touch, not 4 KiB.
void prefer_large_pages(void* memory, std::size_t bytes);

/// Writes a zero to the first byte of every page from there on, by all threads. The system clears a page when it is
/// first written to, which takes one thread longer than writing does.
void touch_pages(std::span<std::byte> memory, const ParallelFor& parallel);

/// As std::vector<Number>(count): all threads touch the new pages before they are filled.
template <typename Number>
[[nodiscard]] std::vector<Number> zeros(std::size_t count, const ParallelFor& parallel) {
  constexpr std::size_t k_least = std::size_t{4} << 20;
  std::vector<Number> numbers;
  numbers.reserve(count);
  const std::size_t length = count * sizeof(Number);
  if (length > k_least) {
    prefer_large_pages(numbers.data(), length);
    touch_pages({reinterpret_cast<std::byte*>(numbers.data()), length}, parallel);
  }
  numbers.resize(count);
  return numbers;
}

}  // namespace kw

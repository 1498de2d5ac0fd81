#pragma once
// Large vectors of zeros, made by all threads.

#include <cstddef>
#include <vector>

#include "base/parallel.hpp"

namespace kw {

/// Asks the system to back that memory with large pages where it can: it then clears 2 MiB at a first touch, not 4 KiB.
void prefer_large_pages(void* memory, std::size_t bytes);

/// As std::vector<Number>(count). The system clears a page when it is first written to, which takes one thread longer
/// than writing does: here all threads write to the new pages before they are filled.
template <typename Number>
[[nodiscard]] std::vector<Number> zeros(std::size_t count, const ParallelFor& parallel) {
  constexpr std::size_t k_page = 4096;
  constexpr std::size_t k_part = std::size_t{4} << 20;
  std::vector<Number> numbers;
  numbers.reserve(count);
  auto* const bytes = reinterpret_cast<volatile char*>(numbers.data());
  const std::size_t length = count * sizeof(Number);
  if (length > k_part) {
    prefer_large_pages(numbers.data(), length);
    for_parts(parallel, length, k_part, [&](std::size_t, std::size_t begin, std::size_t end) {
      for (std::size_t at = begin; at < end; at += k_page) bytes[at] = 0;
    });
  }
  numbers.resize(count);
  return numbers;
}

}  // namespace kw

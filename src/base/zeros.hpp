#pragma once
// Large vectors of zeros, made by all threads.

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "base/parallel.hpp"

namespace kw {

/// Asks the system to back that memory with large pages where it can: it then clears 2 MiB at a first touch, not 4 KiB.
void prefer_large_pages(void* memory, std::size_t bytes);

/// Leaves that memory out of processes that are cloned from now on. Otherwise each of them, for as long as it lives,
/// makes the first write to every page copy it: data of 1.6 GB were drawn in 0.3 to 0.6 s instead of 0.02 (2026-11-27).
/// A child must not use it, and the memory must be given back to the system by who frees it: of what malloc hands out
/// that is so from k_own_mapping on.
void leave_out_of_children(void* memory, std::size_t bytes);

/// glibc maps blocks of more than 32 MiB by themselves, whatever was freed before (mallopt(3), M_MMAP_THRESHOLD).
inline constexpr std::size_t k_own_mapping = std::size_t{33} << 20;

/// Writes a zero to the first byte of every page from there on, by all threads. The system clears a page when it is
/// first written to, which takes one thread longer than writing does.
void touch_pages(std::span<std::byte> memory, const ParallelFor& parallel);

/// As std::vector<Number>(count): all threads touch the new pages before they are filled. With `room` for as many bytes
/// at least, of which those behind the numbers are never touched and take no memory: what is kept for long, and written
/// again and again, is left out of children with room for k_own_mapping.
template <typename Number>
[[nodiscard]] std::vector<Number> zeros(std::size_t count, const ParallelFor& parallel, std::size_t room = 0) {
  constexpr std::size_t k_least = std::size_t{4} << 20;
  std::vector<Number> numbers;
  numbers.reserve(std::max(count, room / sizeof(Number)));
  const std::size_t reserved = numbers.capacity() * sizeof(Number);
  if (reserved >= k_own_mapping) leave_out_of_children(numbers.data(), reserved);
  const std::size_t length = count * sizeof(Number);
  if (length > k_least) {
    prefer_large_pages(numbers.data(), length);
    touch_pages({reinterpret_cast<std::byte*>(numbers.data()), length}, parallel);
  }
  numbers.resize(count);
  return numbers;
}

}  // namespace kw

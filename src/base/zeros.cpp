#include "base/zeros.hpp"

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

namespace kw {
namespace {

constexpr std::size_t k_page = 4096;

}  // namespace

void prefer_large_pages(void* memory, std::size_t bytes) {
  const auto first = (reinterpret_cast<std::uintptr_t>(memory) + k_page - 1) / k_page * k_page;
  const auto last = (reinterpret_cast<std::uintptr_t>(memory) + bytes) / k_page * k_page;
  // A wish: nothing depends on it, and a system without large pages says so.
  if (first < last) static_cast<void>(::madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE));
}

void touch_pages(std::span<std::byte> memory, const ParallelFor& parallel) {
  constexpr std::size_t k_part = std::size_t{4} << 20;
  volatile std::byte* const bytes = memory.data();
  for_parts(parallel, memory.size(), k_part, [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t at = begin; at < end; at += k_page) bytes[at] = std::byte{0};
  });
}

}  // namespace kw

#include "base/zeros.hpp"

#include <sys/mman.h>

#include <cstdint>

namespace kw {

void prefer_large_pages(void* memory, std::size_t bytes) {
  constexpr std::uintptr_t k_page = 4096;
  const auto first = (reinterpret_cast<std::uintptr_t>(memory) + k_page - 1) / k_page * k_page;
  const auto last = (reinterpret_cast<std::uintptr_t>(memory) + bytes) / k_page * k_page;
  // A wish: nothing depends on it, and a system without large pages says so.
  if (first < last) static_cast<void>(::madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE));
}

}  // namespace kw

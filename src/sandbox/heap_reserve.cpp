#include "sandbox/heap_reserve.hpp"

#include <malloc.h>

#include <cstdlib>
#include <limits>

#include "sandbox/sandbox.hpp"

namespace kw {

void keep_one_heap() {
  ::mallopt(M_ARENA_MAX, 1);
}

Result<void> reserve_heap() {
  // Everything from the heap, nothing mapped on its own; and what is free at the heap's end stays there.
  ::mallopt(M_MMAP_MAX, 0);
  ::mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  auto* memory = static_cast<volatile char*>(std::malloc(k_heap_reserve_bytes));
  if (memory == nullptr) return fail(errc::sandbox_failed, "no {} bytes for the worker", k_heap_reserve_bytes);
  memory[0] = 0;  // a compiler may leave out memory that nobody uses
  std::free(const_cast<char*>(memory));
  return {};
}

}  // namespace kw

#pragma once
// New memory full of NaN, so that reading what nobody wrote shows in a result.

#include <malloc.h>

namespace kw {

/// While it lives, of this program's allocator; sanitizers have their own and do not notice.
class NoNumbersInMemory {
 public:
  // New memory is filled with the complement of the lowest byte: of 0, which alone would mean that nothing is.
  NoNumbersInMemory() { mallopt(M_PERTURB, 0x100); }
  NoNumbersInMemory(const NoNumbersInMemory&) = delete;
  NoNumbersInMemory& operator=(const NoNumbersInMemory&) = delete;
  ~NoNumbersInMemory() { mallopt(M_PERTURB, 0); }
};

}  // namespace kw

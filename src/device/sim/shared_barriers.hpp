#pragma once
// Barriers that a kernel keeps in shared memory (PTX ISA, "mbarrier"), and the boxes of tensors that are on their way
// to shared memory and arrive at them.

#include <cstddef>
#include <map>
#include <vector>

#include "device/sim/runtime/abi.hpp"
#include "device/sim/shadow.hpp"

namespace kw::sim {

/// A box that the copy engine has read and not written yet.
struct PendingBox {
  std::byte* shared = nullptr;
  std::vector<std::byte> data;  ///< as it will lie there
  Stamp asked;                  ///< by whom
  kw_sim::Place place = 0;
};

/// A phase ends when all threads have arrived that are expected, and as many bytes as they have announced.
struct SharedBarrier {
  unsigned arrivals = 0;  ///< expected in every phase
  unsigned missing = 0;   ///< of them, in this phase
  unsigned phase = 0;
  std::size_t announced = 0;  ///< bytes, in this phase
  std::size_t copied = 0;     ///< bytes of `boxes`
  std::vector<PendingBox> boxes;

  [[nodiscard]] bool is_complete() const { return missing == 0 && announced == copied; }
};

/// Of one block, by address.
using SharedBarriers = std::map<const std::byte*, SharedBarrier>;

}  // namespace kw::sim

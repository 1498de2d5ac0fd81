#pragma once
// What lies around the buffers of a plan cannot be touched while the plan runs: an access there, also one that only
// reads and changes no answer, ends the process. It holds at every size and costs a launch nothing; it is for kernels
// that run on the arena itself, on this machine's processor.

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "protocol/messages.hpp"

namespace kw {

class ArenaFence {
 public:
  /// `arena` is mapped readable and writable, from a page boundary on, and outlives this. Nothing is closed yet.
  ArenaFence(std::span<std::byte> arena, std::vector<std::vector<ArenaSlot>> slots_of_plans);

  /// Closes the pages that hold no byte of a buffer of this plan and opens the others. errc::device_refused when the
  /// system refuses; a plan that does not exist is left to the device to refuse.
  [[nodiscard]] Result<void> around(std::int64_t plan);

 private:
  std::span<std::byte> arena_;
  std::vector<std::vector<ArenaSlot>> slots_of_plans_;
  std::optional<std::size_t> fenced_;
};

}  // namespace kw

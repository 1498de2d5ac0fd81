#pragma once
// The memory a candidate's buffers lie in, shared between the host and one run process. Every buffer stands between
// guard zones, so that writing past an end is seen afterwards:
//   guard | buffer 0 | guard | buffer 1 | ... | guard
// Every buffer ends less than k_buffer_alignment before a page boundary, so that a process which can close the pages of
// the guard zones (worker/arena_fence.hpp) sees reading behind a buffer as well. The zone after a buffer starts right
// at its last byte.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "protocol/messages.hpp"
#include "record/launch_plan.hpp"

namespace kw {

inline constexpr std::int64_t k_arena_page_bytes = 4096;
/// Of a buffer's first byte: what OpenCL devices ask of parts of a buffer, at most (CL_DEVICE_MEM_BASE_ADDR_ALIGN).
inline constexpr std::int64_t k_buffer_alignment = 512;
/// At least this much before the first and after every buffer: more than a tile of rows, the usual length of a slip.
inline constexpr std::int64_t k_guard_bytes = 64 << 10;
/// What every byte of the guard zones of a freshly selected layout holds: a NaN as f32, f16 and bf16.
inline constexpr std::byte k_arena_poison{0xff};

struct ArenaLayout {
  std::vector<ArenaSlot> slots;  ///< one per buffer of the plan
  std::int64_t bytes = 0;        ///< guards included
};

/// errc::overflow for sizes that are not positive or do not add up.
[[nodiscard]] Result<ArenaLayout> lay_out(const LaunchPlan& plan);

/// A file in memory, mapped here and handed to the process as a descriptor. Created empty, so that a process can be
/// started before it is known what it will hold.
class Arena {
 public:
  [[nodiscard]] static Result<Arena> create();
  Arena(Arena&& other) noexcept;
  Arena& operator=(Arena&& other) noexcept;
  Arena(const Arena&) = delete;
  ~Arena();

  [[nodiscard]] int descriptor() const { return file_.get(); }
  /// Gives it its size, once, and forbids changing it: a process that shrank it would crash the host.
  [[nodiscard]] Result<void> fix_size(std::int64_t bytes);
  [[nodiscard]] std::span<std::byte> bytes() const { return memory_; }

 private:
  explicit Arena(UniqueFd file) : file_(std::move(file)) {}

  UniqueFd file_;
  std::span<std::byte> memory_;
};

/// The buffers of a layout, and what lies around them, in address order.
[[nodiscard]] std::span<std::byte> slot_bytes(std::span<std::byte> arena, const ArenaSlot& slot);
[[nodiscard]] std::vector<std::span<std::byte>> guard_zones(std::span<std::byte> arena, const ArenaLayout& layout);

}  // namespace kw

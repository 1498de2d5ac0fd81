#include "worker/arena_fence.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "device/device.hpp"

namespace kw {
namespace {

Result<void> protect(std::span<std::byte> pages, int rights) {
  if (pages.empty() || ::mprotect(pages.data(), pages.size(), rights) == 0) return {};
  return fail(errc::device_refused, "{} bytes around buffers cannot be closed: {}", pages.size(), std::strerror(errno));
}

/// From `begin` to `end`, which are page boundaries.
std::span<std::byte> pages_between(std::span<std::byte> arena, std::size_t begin, std::size_t end) {
  return begin < end ? arena.subspan(begin, end - begin) : std::span<std::byte>();
}

}  // namespace

ArenaFence::ArenaFence(std::span<std::byte> arena, std::vector<std::vector<ArenaSlot>> slots_of_plans)
    : arena_(arena), slots_of_plans_(std::move(slots_of_plans)) {
  for (auto& slots : slots_of_plans_) {
    std::sort(slots.begin(), slots.end(), [](const ArenaSlot& a, const ArenaSlot& b) { return a.offset < b.offset; });
  }
}

Result<void> ArenaFence::around(std::int64_t plan) {
  const auto index = static_cast<std::size_t>(plan);
  if (index >= slots_of_plans_.size() || index == fenced_) return {};
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t arena_end = arena_.size() / page * page;
  fenced_.reset();
  KW_TRY_VOID(protect(arena_, PROT_READ | PROT_WRITE));
  std::size_t open_until = 0;
  for (const ArenaSlot& slot : slots_of_plans_[index]) {
    KW_TRY_VOID(
        protect(pages_between(arena_, open_until, static_cast<std::size_t>(slot.offset) / page * page), PROT_NONE));
    open_until = (static_cast<std::size_t>(slot.offset + slot.bytes) + page - 1) / page * page;
  }
  KW_TRY_VOID(protect(pages_between(arena_, open_until, arena_end), PROT_NONE));
  fenced_ = index;
  return {};
}

}  // namespace kw

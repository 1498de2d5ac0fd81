#include "verify/processes/arena.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/checked.hpp"
#include "verify/processes/execution_backend.hpp"

namespace kw {
namespace {

std::optional<std::int64_t> rounded_up(std::int64_t bytes, std::int64_t unit) {
  const auto padded = checked_add(bytes, unit - 1);
  if (!padded) return std::nullopt;
  return *padded / unit * unit;
}

/// The first page boundary that leaves room for a guard zone after `end`.
std::optional<std::int64_t> after_guard(std::int64_t end) {
  const auto guarded = checked_add(end, k_guard_bytes);
  return guarded ? rounded_up(*guarded, k_arena_page_bytes) : std::nullopt;
}

/// Where a buffer of `bytes` starts that fills the last of its pages, the first of which may start at `page`.
std::optional<std::int64_t> aligned_at_the_end(std::int64_t page, std::int64_t bytes) {
  const auto aligned = rounded_up(bytes, k_buffer_alignment);
  const auto pages = aligned ? rounded_up(*aligned, k_arena_page_bytes) : std::nullopt;
  return pages ? checked_add(page, *pages - *aligned) : std::nullopt;
}

}  // namespace

Result<ArenaLayout> lay_out(const LaunchPlan& plan) {
  ArenaLayout layout;
  std::optional<std::int64_t> page = after_guard(0);
  for (const PlannedBuffer& buffer : plan.buffers) {
    const auto offset = aligned_at_the_end(*page, buffer.bytes);
    const auto end = offset ? checked_add(*offset, buffer.bytes) : std::nullopt;
    const auto next = end ? after_guard(*end) : std::nullopt;
    if (buffer.bytes < 1 || !next) {
      return fail(errc::overflow, "buffer '{}' of {} bytes does not fit into an arena", buffer.name, buffer.bytes);
    }
    layout.slots.push_back({*offset, buffer.bytes});
    page = next;
  }
  layout.bytes = *page;
  return layout;
}

Result<Arena> Arena::create() {
  UniqueFd file(::memfd_create("kernelwright-arena", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file.valid()) return fail(errc::worker_failed, "cannot create shared memory: {}", std::strerror(errno));
  return Arena(std::move(file));
}

Arena::Arena(Arena&& other) noexcept : file_(std::move(other.file_)), memory_(std::exchange(other.memory_, {})) {}

Arena& Arena::operator=(Arena&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(memory_, other.memory_);
  return *this;
}

Arena::~Arena() {
  if (!memory_.empty()) ::munmap(memory_.data(), memory_.size());
}

Result<void> Arena::fix_size(std::int64_t bytes) {
  const auto length = static_cast<std::size_t>(bytes);
  if (::ftruncate(file_.get(), bytes) != 0 ||
      ::fcntl(file_.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return fail(errc::worker_failed, "cannot size shared memory to {} bytes: {}", bytes, std::strerror(errno));
  }
  void* memory = ::mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
  if (memory == MAP_FAILED) {
    return fail(errc::worker_failed, "cannot map {} bytes of shared memory: {}", bytes, std::strerror(errno));
  }
  memory_ = {static_cast<std::byte*>(memory), length};
  return {};
}

std::span<std::byte> slot_bytes(std::span<std::byte> arena, const ArenaSlot& slot) {
  return arena.subspan(static_cast<std::size_t>(slot.offset), static_cast<std::size_t>(slot.bytes));
}

std::vector<std::span<std::byte>> guard_zones(std::span<std::byte> arena, const ArenaLayout& layout) {
  std::vector<std::span<std::byte>> zones;
  std::int64_t end = 0;
  for (const ArenaSlot& slot : layout.slots) {
    zones.push_back(slot_bytes(arena, {end, slot.offset - end}));
    end = slot.offset + slot.bytes;
  }
  zones.push_back(slot_bytes(arena, {end, layout.bytes - end}));
  return zones;
}

}  // namespace kw

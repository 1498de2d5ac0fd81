// Copies of boxes of tensors by the copy engine, and the barriers in shared memory at which they arrive.

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "device/sim/block.hpp"

namespace kw::sim {
namespace {

constexpr std::size_t k_row_bytes = 128, k_element_bytes = 2, k_barrier_bytes = 8;

/// Where the swizzle puts byte `offset` of a box: bits 4 to 6 of an address are exchanged by its bits 7 to 9.
std::size_t swizzled(const std::byte* shared, std::size_t offset) {
  return offset ^ ((reinterpret_cast<std::uintptr_t>(shared) + offset) >> 7 & 7U) << 4;
}

}  // namespace

/// `kind`: of the access to the barrier's own bytes, which threads order by themselves.
SharedBarrier& Block::barrier_at(const void* barrier, unsigned kind, kw_sim::Place place) {
  const auto* address = static_cast<const std::byte*>(barrier);
  const auto found = shared_barriers_.find(address);
  if (found == shared_barriers_.end()) {
    stop(
        FindingKind::misused_instruction,
        [&] { return fmt::format("{} uses a barrier in shared memory that nobody has made", name(thread_->number)); },
        place);
  }
  shared_access(address, k_barrier_bytes, kind | kw_sim::k_atomic, place, *thread_);
  return found->second;
}

void Block::init_barrier(void* barrier, unsigned arrivals, kw_sim::Place place) {
  const auto* address = static_cast<const std::byte*>(barrier);
  if (!shared_.holds(address) || reinterpret_cast<std::uintptr_t>(barrier) % k_barrier_bytes != 0 || arrivals == 0) {
    stop(
        FindingKind::misused_instruction,
        [&] {
          return std::string("a barrier is 8 bytes of shared memory at a multiple of 8, for at least one arrival");
        },
        place);
  }
  shared_access(address, k_barrier_bytes, kw_sim::k_write, place, *thread_);
  SharedBarrier made;
  made.arrivals = made.missing = arrivals;
  shared_barriers_[address] = std::move(made);
}

void Block::expect_bytes(void* barrier, unsigned bytes, kw_sim::Place place) {
  SharedBarrier& shared = barrier_at(barrier, kw_sim::k_write, place);
  if (shared.missing == 0) {
    stop(
        FindingKind::misused_instruction,
        [&] {
          return fmt::format("{} arrives at a barrier in shared memory before anybody has waited for its last phase",
                             name(thread_->number));
        },
        place);
  }
  --shared.missing;
  shared.announced += bytes;
  idle_pauses_ = 0;
}

/// The last phase that is not of `parity` has ended then. Boxes arrive here, as late as a kernel may believe.
void Block::wait_for_phase(void* barrier, unsigned parity, kw_sim::Place place) {
  for (;;) {
    SharedBarrier& shared = barrier_at(barrier, 0, place);
    if (shared.phase % 2 != parity % 2) return;
    if (!shared.is_complete()) {
      pause(place);
      continue;
    }
    for (const PendingBox& box : shared.boxes) deliver(box);
    shared.boxes.clear();
    shared.announced = shared.copied = 0;
    shared.missing = shared.arrivals;
    ++shared.phase;
    idle_pauses_ = 0;
    return;
  }
}

void Block::copy_tensor(const kw_sim::TensorCopy& copy) {
  const auto place = static_cast<kw_sim::Place>(copy.line);
  SharedBarrier& barrier = barrier_at(copy.barrier, kw_sim::k_write, place);
  auto* shared = static_cast<std::byte*>(copy.shared);
  if (!shared_.holds(shared) || reinterpret_cast<std::uintptr_t>(shared) % k_row_bytes != 0) {
    stop(
        FindingKind::misused_instruction,
        [&] { return std::string("a box of a tensor goes to shared memory at a multiple of 128 bytes"); }, place);
  }
  constexpr std::uintptr_t k_map_alignment = 64;
  if (reinterpret_cast<std::uintptr_t>(copy.map) % k_map_alignment != 0) {
    stop(
        FindingKind::misaligned, [&] { return std::string("a tensor map must lie at a multiple of 64 bytes"); }, place);
  }
  access(copy.map, sizeof(kw_sim::TensorMap), 0, place);
  kw_sim::TensorMap map{};
  std::memcpy(&map, copy.map, sizeof map);
  if (map.mark != kw_sim::k_tensor_map) {
    stop(
        FindingKind::misused_instruction, [&] { return std::string("what a box is copied by is no tensor map"); },
        place);
  }
  // The block's own from the beginning: where a finding ends the launch, nothing of this frame is freed.
  PendingBox& box = barrier.boxes.emplace_back();
  box.shared = shared;
  box.place = place;
  box.asked = Stamp::make(epoch_, warps_[thread_->warp].clocks.now[thread_->lane], thread_->number, false);
  box.data.resize(k_row_bytes * map.box[1] * map.box[2]);
  // On its way from now on: whoever has read or written the target must be done with it.
  shared_access(shared, box.data.size(), kw_sim::k_write, place, *thread_);
  read_box(map, copy, box);
  std::memset(shared, 0xff, box.data.size());
  barrier.copied += box.data.size();
  idle_pauses_ = 0;
}

/// Rows of it that lie in the tensor; the others are zeros already.
void Block::read_box(const kw_sim::TensorMap& map, const kw_sim::TensorCopy& copy, PendingBox& box) {
  const std::int64_t begin = std::max(copy.first[0], 0);
  const std::int64_t end = std::min<std::int64_t>(std::int64_t{copy.first[0]} + map.box[0], map.extents[0]);
  for (std::int64_t row = 0; row < std::int64_t{map.box[1]} * map.box[2]; ++row) {
    const std::int64_t y = copy.first[1] + row % map.box[1], z = copy.first[2] + row / map.box[1];
    if (begin >= end || y < 0 || y >= map.extents[1] || z < 0 || z >= map.extents[2]) continue;
    const auto* from = static_cast<const std::byte*>(map.memory) + static_cast<std::uint64_t>(y) * map.strides[0] +
                       static_cast<std::uint64_t>(z) * map.strides[1] +
                       static_cast<std::uint64_t>(begin) * k_element_bytes;
    const auto bytes = static_cast<std::size_t>(end - begin) * k_element_bytes;
    access(from, bytes, 0, box.place);
    const auto first =
        static_cast<std::size_t>(row) * k_row_bytes + static_cast<std::size_t>(begin - copy.first[0]) * k_element_bytes;
    for (std::size_t i = 0; i < bytes; ++i) box.data[swizzled(box.shared, first + i)] = from[i];
  }
}

/// The write stands in an epoch that is over: all who wait for the barrier are ordered after it.
void Block::deliver(const PendingBox& box) {
  const auto untouched = [&](Stamp earlier) { return earlier.bits == box.asked.bits; };
  const Stamp before = Stamp::make(epoch_ - k_max_runners, 0, box.asked.thread(), false);
  shared_shadow_.each_cell(box.shared, box.data.size(), [&](Cell& cell) {
    const Conflict conflict = check(cell, true, untouched);
    if (!conflict.with.never() && !findings_.has(FindingKind::race))
      report_race(conflict, true, "shared memory", threads_[box.asked.thread()], box.place);
    record(cell, before, box.place, true, lanes_, untouched);
  });
  std::memcpy(box.shared, box.data.data(), box.data.size());
}

}  // namespace kw::sim

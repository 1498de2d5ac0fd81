// What threads do to memory: bounds, alignment, races, uninitialised shared memory, asynchronous copies.

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "device/sim/block.hpp"

namespace kw::sim {
namespace {

std::string_view verb(bool write) {
  return write ? "writes" : "reads";
}

}  // namespace

void Block::access(const void* pointer, std::size_t bytes, unsigned kind, kw_sim::Place place) {
  const auto* address = static_cast<const std::byte*>(pointer);
  const bool write = (kind & kw_sim::k_write) != 0;
  if ((kind & kw_sim::k_misaligned) != 0) {
    stop(
        FindingKind::misaligned,
        [&] {
          return fmt::format("{} uses an address that is not a multiple of its type's alignment",
                             name(thread_->number));
        },
        place);
  }
  if ((kind & kw_sim::k_atomic) != 0) {
    acquired_ = true;
    atomic_place_ = place;
    release(*thread_);
    auto& released = memory_->order.released[runner_];
    if (fence_epoch_ != 0) released.store(std::max(released.load(), fence_epoch_));
  }
  if (shared_.holds(address)) {
    shared_access(address, bytes, kind, place, *thread_);
  } else if (const GlobalBuffer* buffer = buffer_of(address)) {
    global_access(*buffer, address, bytes, kind, place);
  } else if (address < code_.data() || address + bytes > code_.data() + code_.size()) {
    report_out_of_bounds(address, bytes, write, place);
  } else if (write) {
    stop(
        FindingKind::out_of_bounds,
        [&] {
          return fmt::format(
              "{} writes a variable outside of kernels, which outlasts the launch: ask for scratch in the bundle's "
              "header",
              name(thread_->number));
        },
        place);
  }
  if ((kind & kw_sim::k_volatile) != 0) {
    if (write) idle_pauses_ = 0;
    give_way(place);
  }
}

void Block::counted_access(const void* pointer, std::size_t bytes, unsigned kind, kw_sim::Place place) {
  // How often threads try again depends on their order; what the tensor cores read, no lane asks for.
  constexpr unsigned k_uncounted = kw_sim::k_atomic | kw_sim::k_volatile | kw_sim::k_misaligned | kw_sim::k_matrix_unit;
  if ((kind & k_uncounted) == 0) {
    count(static_cast<const std::byte*>(pointer), bytes, (kind & kw_sim::k_write) != 0, place);
  }
  access(pointer, bytes, kind, place);
}

/// Of the candidate's own variables and constants nothing is counted.
void Block::count(const std::byte* address, std::size_t bytes, bool write, kw_sim::Place place) {
  if (shared_.holds(address)) {
    const auto at = static_cast<std::uint64_t>(address - shared_.begin);
    counter_->access(thread_->number, {place, true, write}, at, bytes);
  } else if (const GlobalBuffer* buffer = buffer_of(address)) {
    // Buffers lie far apart, as on a device, and each begins a sector.
    constexpr unsigned k_buffer_bits = 44;
    const std::uint64_t index = memory_->index_of(*buffer);
    const auto at = static_cast<std::uint64_t>(address - buffer->begin);
    counter_->access(thread_->number, {place, false, write}, (index << k_buffer_bits) + at, bytes);
  }
}

const GlobalBuffer* Block::buffer_of(const std::byte* address) {
  if (last_buffer_ == nullptr || !last_buffer_->holds(address)) last_buffer_ = memory_->find(address);
  return last_buffer_;
}

bool Block::ordered_in_warp(Stamp earlier, const SimThread& thread) const {
  if (!same_warp(earlier.thread(), thread.number, lanes_)) return false;
  return warps_[thread.warp].clocks.known[thread.lane][earlier.thread() & (lanes_ - 1)] >= earlier.clock();
}

bool Block::ordered_in_launch(Stamp earlier, const SimThread& thread, bool atomic) const {
  if (atomic && earlier.atomic()) return true;
  const std::uint32_t epoch = earlier.epoch();
  const unsigned runner = epoch % k_max_runners;
  if (runner == runner_ && epoch >= block_epoch_) return ordered_in_block(earlier, thread);
  if (epoch < memory_->order.first_epoch[runner]) return true;
  return acquired_ && epoch <= memory_->order.released[runner].load();
}

void Block::report_race(const Conflict& conflict, bool write, const std::string& where, const SimThread& thread,
                        kw_sim::Place place) {
  const std::uint32_t epoch = conflict.with.epoch();
  const bool same_block = epoch % k_max_runners == runner_ && epoch >= block_epoch_;
  const kw_sim::Coordinates& extent = run_->block;
  const unsigned other = conflict.with.thread();
  findings_.report(FindingKind::race,
                   fmt::format("{} {} {} that thread ({}, {}, {}) of {} {} at {} with no barrier between",
                               name(thread.number), verb(write), where, other % extent.x, other / extent.x % extent.y,
                               other / (extent.x * extent.y), same_block ? "the same block" : "another block",
                               conflict.with_write ? "wrote" : "read", findings_.line_text(conflict.place)),
                   place);
}

void Block::report_out_of_bounds(const std::byte* address, std::size_t bytes, bool write, kw_sim::Place place) {
  stop(
      FindingKind::out_of_bounds,
      [&] {
        return fmt::format("{} {} {} bytes {}", name(thread_->number), verb(write), bytes, memory_->describe(address));
      },
      place);
}

void Block::shared_access(const std::byte* address, std::size_t bytes, unsigned kind, kw_sim::Place place,
                          const SimThread& thread) {
  const bool write = (kind & kw_sim::k_write) != 0;
  const bool atomic = (kind & kw_sim::k_atomic) != 0;
  if (!shared_.grants(address, bytes)) {
    stop(
        FindingKind::out_of_bounds,
        [&] {
          return fmt::format("{} {} {} bytes of shared memory at byte {} of the {} that the launch asks for",
                             name(thread.number), verb(write), bytes, address - shared_.dynamic, shared_.granted_bytes);
        },
        place);
  }
  const auto& clocks = warps_[thread.warp].clocks;
  const Stamp now = Stamp::make(epoch_, clocks.now[thread.lane], thread.number, atomic);
  const auto ordered = [&](Stamp earlier) { return (atomic && earlier.atomic()) || ordered_in_block(earlier, thread); };
  shared_shadow_.each_cell(address, bytes, [&](Cell& cell) {
    const Stamp writer{cell.writer.load(std::memory_order_relaxed)};
    if ((!write || atomic) && writer.epoch() < block_epoch_ && !findings_.has(FindingKind::uninitialised)) {
      findings_.report(FindingKind::uninitialised,
                       fmt::format("{} reads shared memory that its block has not written", name(thread.number)),
                       place);
    }
    if (const Conflict conflict = check(cell, write, ordered); !conflict.with.never()) {
      if (!findings_.has(FindingKind::race)) report_race(conflict, write, "shared memory", thread, place);
    }
    record(cell, now, place, write, lanes_, ordered);
  });
}

void Block::global_access(const GlobalBuffer& buffer, const std::byte* address, std::size_t bytes, unsigned kind,
                          kw_sim::Place place) {
  const bool write = (kind & kw_sim::k_write) != 0;
  const bool atomic = (kind & kw_sim::k_atomic) != 0;
  if (address + bytes > buffer.begin + buffer.bytes)
    report_out_of_bounds(buffer.begin + buffer.bytes, bytes, write, place);
  if (!buffer.cells) return;
  const SimThread& thread = *thread_;
  const Stamp now = Stamp::make(epoch_, warps_[thread.warp].clocks.now[thread.lane], thread.number, atomic);
  const auto ordered = [&](Stamp earlier) { return ordered_in_launch(earlier, thread, atomic); };
  const auto first = static_cast<std::size_t>(address - buffer.begin);
  for (std::size_t i = first / buffer.granule; i <= (first + bytes - 1) / buffer.granule; ++i) {
    Cell& cell = buffer.cells[i];
    if (const Conflict conflict = check(cell, write, ordered); !conflict.with.never()) {
      if (!findings_.has(FindingKind::race)) {
        report_race(conflict, write, fmt::format("element {} of {}", i, buffer.name), thread, place);
      }
    }
    record(cell, now, place, write, lanes_, ordered);
  }
}

void Block::copy_async(void* shared, const void* global, int bytes, int source_bytes, int line) {
  const auto place = static_cast<kw_sim::Place>(line);
  auto* target = static_cast<std::byte*>(shared);
  const auto size = static_cast<std::size_t>(bytes);
  if (bytes != 4 && bytes != 8 && bytes != 16) {
    stop(
        FindingKind::misused_instruction, [&] { return std::string("an asynchronous copy moves 4, 8 or 16 bytes"); },
        place);
  }
  if (!shared_.holds(target) || reinterpret_cast<std::uintptr_t>(shared) % size != 0 ||
      reinterpret_cast<std::uintptr_t>(global) % size != 0) {
    stop(
        FindingKind::misused_instruction,
        [&] {
          return fmt::format(
              "an asynchronous copy of {} bytes goes to shared memory, both addresses multiples of its size", bytes);
        },
        place);
  }
  PendingCopy copy{target, {}, static_cast<unsigned>(bytes), line, thread_->copy_group};
  const auto from = static_cast<std::size_t>(std::clamp(source_bytes, 0, bytes));
  if (counter_) {
    count(static_cast<const std::byte*>(global), from, false, place);
    count(target, size, true, place);
  }
  if (from > 0) {
    access(global, from, 0, place);
    std::memcpy(copy.data.data(), global, from);
  }
  // On its way from now on: whoever has read or written the target must be done with it.
  const auto ordered = [&](Stamp earlier) { return ordered_in_block(earlier, *thread_); };
  if (shared_.grants(target, size)) {
    shared_shadow_.each_cell(target, size, [&](const Cell& cell) {
      const Conflict conflict = check(cell, true, ordered);
      if (conflict.with.never() || findings_.has(FindingKind::race)) return;
      report_race(conflict, true, "shared memory", *thread_, place);
    });
  }
  thread_->copies.push_back(copy);
}

void Block::wait_for_copies(int groups_left, int line) {
  static_cast<void>(line);
  // Copies of the group that is still open are waited for only by wait_all.
  const bool all = groups_left < 0;
  auto& copies = thread_->copies;
  const auto arrives = [&](const PendingCopy& copy) {
    return all || (copy.group < thread_->copy_group &&
                   thread_->copy_group - copy.group > static_cast<std::uint64_t>(groups_left));
  };
  for (const PendingCopy& copy : copies) {
    if (!arrives(copy)) continue;
    shared_access(copy.shared, copy.bytes, kw_sim::k_write, static_cast<kw_sim::Place>(copy.line), *thread_);
    std::memcpy(copy.shared, copy.data.data(), copy.bytes);
  }
  copies.erase(std::remove_if(copies.begin(), copies.end(), arrives), copies.end());
}

}  // namespace kw::sim

#pragma once
// Who touched a place in memory last, and whether the next touch is ordered after it. A barrier of the block begins a
// new epoch; everything before it is ordered before everything after it. Within an epoch, only accesses of one thread
// are ordered, and those of lanes of a warp that __syncwarp has brought together since (vector clocks, one per lane).

#include <array>
#include <atomic>
#include <cstdint>

#include "device/sim/runtime/abi.hpp"

namespace kw::sim {

/// Of a warp: 32 on GPUs of NVIDIA, 32 or 64 (a wavefront) on those of AMD.
inline constexpr unsigned k_max_lanes = 64;

/// One access: when and by whom. 0 means never.
struct Stamp {
  std::uint64_t bits = 0;

  static constexpr unsigned k_thread_bits = 10;
  static constexpr unsigned k_clock_bits = 21;
  static Stamp make(std::uint32_t epoch, std::uint32_t clock, unsigned thread, bool atomic) {
    constexpr std::uint32_t k_last = (1U << k_clock_bits) - 1U;
    const std::uint64_t bounded = clock < k_last ? clock : k_last;
    return {std::uint64_t{epoch} << 32 | bounded << (k_thread_bits + 1) | std::uint64_t{atomic} << k_thread_bits |
            thread};
  }
  [[nodiscard]] bool never() const { return bits == 0; }
  [[nodiscard]] std::uint32_t epoch() const { return static_cast<std::uint32_t>(bits >> 32); }
  [[nodiscard]] std::uint32_t clock() const {
    return static_cast<std::uint32_t>(bits >> (k_thread_bits + 1)) & ((1U << k_clock_bits) - 1U);
  }
  [[nodiscard]] unsigned thread() const { return static_cast<unsigned>(bits & ((1U << k_thread_bits) - 1U)); }
  [[nodiscard]] bool atomic() const { return (bits >> k_thread_bits & 1U) != 0; }
};

/// Whether two threads of a block are in one warp of `lanes`, a power of two. (No division: every access asks.)
[[nodiscard]] constexpr bool same_warp(unsigned a, unsigned b, unsigned lanes) {
  return (a ^ b) < lanes;
}

/// What the lanes of a warp know of each other: known[i][j] is the last step of lane j that lane i is ordered after.
struct WarpClocks {
  std::array<std::array<std::uint32_t, k_max_lanes>, k_max_lanes> known{};
  std::array<std::uint32_t, k_max_lanes> now{};
  unsigned lanes = k_max_lanes;

  /// For a warp of that many lanes.
  void reset(unsigned warp_lanes);
  /// The lanes of `mask` wait for each other.
  void join(std::uint64_t mask);
};

/// The last write of a place and up to two reads since, from different warps where there were such. Relaxed atomics:
/// blocks that run at the same time share the cells of global memory, and a lost update can only hide a race.
struct Cell {
  std::atomic<std::uint64_t> writer{0};
  std::atomic<std::uint64_t> reader{0};
  std::atomic<std::uint64_t> other_reader{0};
  // Where in the code each of them was. Between blocks that run at the same time it may be another access's place.
  std::atomic<kw_sim::Place> writer_place{0};
  std::atomic<kw_sim::Place> reader_place{0};
  std::atomic<kw_sim::Place> other_place{0};
};

/// What an access conflicts with; never() when it is ordered after everything.
struct Conflict {
  Stamp with;
  bool with_write = false;
  kw_sim::Place place = 0;  ///< of the earlier access
};

/// Checks an access against the cell without recording it. `ordered(stamp)` says whether that earlier access is ordered
/// before the current one.
template <typename Ordered>
Conflict check(const Cell& cell, bool write, const Ordered& ordered) {
  const Stamp writer{cell.writer.load(std::memory_order_relaxed)};
  if (!writer.never() && !ordered(writer)) return {writer, true, cell.writer_place.load(std::memory_order_relaxed)};
  if (!write) return {};
  const Stamp reader{cell.reader.load(std::memory_order_relaxed)};
  if (!reader.never() && !ordered(reader)) {
    return {reader, false, cell.reader_place.load(std::memory_order_relaxed)};
  }
  const Stamp other{cell.other_reader.load(std::memory_order_relaxed)};
  if (!other.never() && !ordered(other)) return {other, false, cell.other_place.load(std::memory_order_relaxed)};
  return {};
}

/// An access at `place`. `lanes` is the width of a warp.
template <typename Ordered>
void record(Cell& cell, Stamp now, kw_sim::Place place, bool write, unsigned lanes, const Ordered& ordered) {
  if (write) {
    cell.writer.store(now.bits, std::memory_order_relaxed);
    cell.writer_place.store(place, std::memory_order_relaxed);
    cell.reader.store(0, std::memory_order_relaxed);
    cell.other_reader.store(0, std::memory_order_relaxed);
    return;
  }
  const Stamp reader{cell.reader.load(std::memory_order_relaxed)};
  if (reader.never() || ordered(reader)) {
    cell.reader.store(now.bits, std::memory_order_relaxed);
    cell.reader_place.store(place, std::memory_order_relaxed);
    return;
  }
  const Stamp other{cell.other_reader.load(std::memory_order_relaxed)};
  const bool other_is_of_another_warp =
      !other.never() && !ordered(other) && !same_warp(other.thread(), reader.thread(), lanes);
  if (!other_is_of_another_warp || !same_warp(now.thread(), reader.thread(), lanes)) {
    cell.other_reader.store(now.bits, std::memory_order_relaxed);
    cell.other_place.store(place, std::memory_order_relaxed);
  }
}

}  // namespace kw::sim

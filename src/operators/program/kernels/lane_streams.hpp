#pragma once
// What goes through a CPU's caches once: stores that pass by them, and loads that are asked for ahead. A store to a
// line that no cache holds has it read from memory first, which is a third of what a map moves.

#include <optional>
#include <string>
#include <vector>

#include "hardware/device_facts.hpp"
#include "operators/program/kernels/kernel_scope.hpp"
#include "operators/program/kernels/program_bundle.hpp"

namespace kw {

/// STREAM_STORES: whether the kernels have them, 0 or 1.
[[nodiscard]] Tunable stream_tunable();

/// For stages whose elements are better not kept in the caches: large outputs in f32 that no stage reads. The
/// condition, over the kernel's parameters, under which each line of sixteen begins at a multiple of 64 bytes where its
/// first column is a multiple of sixteen.
[[nodiscard]] std::optional<std::string> streams_if(const GroupContext& context, const Stage& stage,
                                                    KernelScope& scope);

/// How far ahead lines are asked for: a page. Where parts of a row are read in turn, the page ahead is read already,
/// and the next row's are asked for.
inline constexpr int k_bytes_ahead = 4096, k_bytes_ahead_in_turns = 16384;

/// PREFETCH_BYTES: how far ahead lines are asked for, 0 for not at all.
[[nodiscard]] Tunable prefetch_tunable(int bytes_ahead);

/// Whether the first cache has enough places for lines that lie pages apart.
[[nodiscard]] bool has_room_for_turns(const DeviceFacts& device);
/// ROW_STREAMS: how many parts of a row are read in turn.
[[nodiscard]] Tunable turns_tunable(const DeviceFacts& device);

/// Loads of the stage, of rows along its first `row_count` axes, that a loop over all of its elements meets in the
/// order in which they lie in memory: of large tensors in f32. Each tensor once.
[[nodiscard]] std::vector<StageNode> loads_in_order(const GroupContext& context, const Stage& stage,
                                                    std::size_t row_count);

}  // namespace kw

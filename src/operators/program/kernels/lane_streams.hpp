#pragma once
// Stores of CPUs that pass by the caches. A store to a line that no cache holds has it read from memory first, which is
// a third of what a map moves.

#include <optional>
#include <string>

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

}  // namespace kw

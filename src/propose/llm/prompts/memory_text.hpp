#pragma once
// What the simulator counted of a kernel's accesses of memory, and what a GPU's counters say of its instructions, in
// words: lines for prompts, and the details of the steps that follow from them (next_step.hpp).

#include <cstdint>
#include <optional>
#include <string>

#include "record/attempt.hpp"

namespace kw {

/// "* The simulator counted ..." and the lines of the source that cost most, quoted; "" where nothing was counted.
[[nodiscard]] std::string access_lines_text(const Attempt& attempt);

/// Global memory is reached in twice the transactions that its bytes need, or more.
[[nodiscard]] std::optional<std::string> scattered_accesses(const Attempt& kernel);
/// Banks of shared memory make half as many passes again, or more.
[[nodiscard]] std::optional<std::string> bank_conflicts(const Attempt& kernel);
/// A quarter of the lanes or more take no part where their warps reach memory.
[[nodiscard]] std::optional<std::string> missing_lanes(const Attempt& kernel);

/// What most warps of a GPU wait for, by the step that helps against it.
enum class Wait : std::uint8_t { global_memory, shared_memory, barriers };
/// The share of all samples of warps that wait for it; nothing where no reason was counted.
[[nodiscard]] std::optional<double> wait_share(const HardwareCounters& counters, Wait wait);
/// Where that takes a third of all samples or more.
[[nodiscard]] std::optional<std::string> long_wait(const Attempt& kernel, Wait wait);
/// Integers, conversions and control are more than half of what threads execute, while schedulers are busy.
[[nodiscard]] std::optional<std::string> much_overhead(const Attempt& kernel);

}  // namespace kw

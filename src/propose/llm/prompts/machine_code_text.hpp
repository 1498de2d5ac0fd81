#pragma once
// What a prompt says of the machine code of a kernel for a CPU, and the signs in it that advice is given for.

#include <optional>
#include <string>

#include "record/attempt.hpp"

namespace kw {

/// One line of a list for each kernel; empty where no machine code was read.
[[nodiscard]] std::string machine_code_lines(const BuildReport& build);

/// The code with the most arithmetic on floats, in which the time goes most likely; null where there is none.
[[nodiscard]] const InstructionMix* hottest_code(const BuildReport& build);

// What costs time in it, in words with their figures; nothing where it does not stand out.

/// Accesses of the stack in the loop, at least one for four arithmetic instructions.
[[nodiscard]] std::optional<std::string> stack_traffic(const InstructionMix& code);
/// Calls of functions in the loop.
[[nodiscard]] std::optional<std::string> calls_in_loop(const InstructionMix& code);
/// More arithmetic on single floats than on vectors, or vectors narrower than the device's.
[[nodiscard]] std::optional<std::string> narrow_arithmetic(const InstructionMix& code, std::int64_t device_floats);
/// A load or a store for each arithmetic instruction or for every second one.
[[nodiscard]] std::optional<std::string> little_reuse(const InstructionMix& code);

}  // namespace kw

#pragma once
// The instructions that a kernel for the machine's own processor may not hold: system calls, clocks and counters, the
// registers that find a thread's own memory or change how it computes, traps that a debugger waits for. Read by
// Capstone.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kw::opencl {

/// The first such instruction in x86-64 machine code, as it is written in assembly, with its address; or an address
/// where the code cannot be read. `address` is that of the first byte.
[[nodiscard]] std::optional<std::string> forbidden_instruction(std::string_view code, std::uint64_t address);

/// Bytes of an instruction encoded with VEX or EVEX, which reach no system call, clock or segment: those that Capstone
/// is too old to know are stepped over. 0 when the bytes begin with no such instruction or end within it.
/// Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, sections 2.3.5 and 2.7.1.
[[nodiscard]] std::size_t vector_instruction_bytes(std::string_view code);

}  // namespace kw::opencl

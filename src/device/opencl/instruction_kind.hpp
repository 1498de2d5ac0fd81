#pragma once
// What one x86-64 instruction does, as far as a mix of instructions tells it. Include it in sources alone.

#include <cstdint>
#include <optional>

#include "device/disassembler.hpp"

namespace kw::opencl {

struct InstructionKind {
  std::uint64_t address = 0;
  int floats = 0;  ///< how many are computed with at a time; 0: no arithmetic on floats
  int bits = 0;    ///< of the widest register of such arithmetic
  bool memory = false;
  bool stack = false;  ///< memory relative to the stack or frame pointer
  bool call = false;
  std::optional<std::uint64_t> target;    ///< of a jump or a call whose address is in the code
  std::optional<std::uint64_t> indirect;  ///< where the address of a jump or a call lies, relative to the code
};

/// `framed`: the function keeps its frame in rbp.
[[nodiscard]] InstructionKind kind_of_instruction(const cs_insn& instruction, bool framed);

/// Whether this is how a function with a frame pointer begins.
[[nodiscard]] bool sets_frame_pointer(const cs_insn& instruction);

}  // namespace kw::opencl

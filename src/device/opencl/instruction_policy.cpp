#include "device/opencl/instruction_policy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "device/disassembler.hpp"

namespace kw::opencl {
namespace {

constexpr auto k_forbidden = std::to_array<unsigned>({
    X86_INS_SYSCALL,  X86_INS_SYSENTER, X86_INS_SYSRET,   X86_INS_SYSEXIT, X86_INS_INT,      X86_INS_INT1,
    X86_INS_INT3,     X86_INS_INTO,     X86_INS_RDTSC,    X86_INS_RDTSCP,  X86_INS_RDPMC,    X86_INS_RDFSBASE,
    X86_INS_RDGSBASE, X86_INS_WRFSBASE, X86_INS_WRGSBASE, X86_INS_CPUID,   X86_INS_RDRAND,   X86_INS_RDSEED,
    X86_INS_XGETBV,   X86_INS_XBEGIN,   X86_INS_HLT,      X86_INS_IN,      X86_INS_OUT,      X86_INS_LFS,
    X86_INS_LGS,      X86_INS_LDS,      X86_INS_LES,      X86_INS_LSS,     X86_INS_LCALL,    X86_INS_LJMP,
    X86_INS_RETF,     X86_INS_RETFQ,    X86_INS_IRET,     X86_INS_IRETD,   X86_INS_IRETQ,    X86_INS_CLFLUSH,
    X86_INS_MONITOR,  X86_INS_MWAIT,    X86_INS_LDMXCSR,  X86_INS_STMXCSR, X86_INS_VLDMXCSR, X86_INS_VSTMXCSR,
    X86_INS_FLDCW,    X86_INS_PUSHFQ,   X86_INS_POPFQ,    X86_INS_INVALID,
});

/// Memory of the thread, which lies behind these two segments, and the segments themselves.
bool touches_segment(const cs_x86& operands) {
  const auto is_segment = [](x86_reg reg) { return reg == X86_REG_FS || reg == X86_REG_GS; };
  return std::ranges::any_of(std::span(operands.operands, operands.op_count), [&](const cs_x86_op& operand) {
    if (operand.type == X86_OP_MEM) return is_segment(operand.mem.segment);
    return operand.type == X86_OP_REG && (is_segment(operand.reg) || operand.reg == X86_REG_DS ||
                                          operand.reg == X86_REG_ES || operand.reg == X86_REG_SS);
  });
}

std::string written(const cs_insn& instruction) {
  return fmt::format("{}{}{} at {:#x}", instruction.mnemonic, instruction.op_str[0] == 0 ? "" : " ", instruction.op_str,
                     instruction.address);
}

/// Whether a byte that is a number follows the operands.
bool has_immediate(unsigned map, unsigned opcode) {
  constexpr auto k_of_map_1 = std::to_array<unsigned>({0x70, 0x71, 0x72, 0x73, 0xc2, 0xc4, 0xc5, 0xc6});
  return map == 3 || (map == 1 && std::ranges::find(k_of_map_1, opcode) != k_of_map_1.end());
}

}  // namespace

std::size_t vector_instruction_bytes(std::string_view code) {
  const auto byte = [&](std::size_t at) { return at < code.size() ? static_cast<unsigned char>(code[at]) : 0U; };
  std::size_t at = byte(0) == 0xc5 ? 2 : byte(0) == 0xc4 ? 3 : byte(0) == 0x62 ? 4 : 0;
  if (at == 0) return 0;
  const unsigned map = byte(0) == 0xc5 ? 1 : byte(0) == 0xc4 ? byte(1) & 0x1fU : byte(1) & 7U;
  const unsigned opcode = byte(at++);
  if (map == 1 && opcode == 0x77) return at <= code.size() ? at : 0;  // vzeroupper has no operands
  const unsigned operands = byte(at++);
  const unsigned mode = operands >> 6U;
  unsigned base = operands & 7U;
  if (mode != 3 && base == 4) base = byte(at++) & 7U;
  if (mode == 1) at += 1;
  if (mode == 2 || (mode == 0 && base == 5)) at += 4;
  if (has_immediate(map, opcode)) at += 1;
  return at <= code.size() ? at : 0;
}

std::optional<std::string> forbidden_instruction(std::string_view code, std::uint64_t address) {
  Disassembler disassembler;
  if (disassembler.instruction == nullptr) return "which cannot be read: no disassembler";
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(code.data());
  std::size_t left = code.size();
  while (left > 0) {
    if (!cs_disasm_iter(disassembler.handle, &bytes, &left, &address, disassembler.instruction)) {
      const std::size_t skipped = vector_instruction_bytes(code.substr(code.size() - left));
      if (skipped == 0) return fmt::format("which cannot be read, at {:#x}", address);
      bytes += skipped;
      left -= skipped;
      address += skipped;
      continue;
    }
    const cs_insn& one = *disassembler.instruction;
    if (std::ranges::find(k_forbidden, one.id) != k_forbidden.end() || touches_segment(one.detail->x86)) {
      return written(one);
    }
  }
  return std::nullopt;
}

}  // namespace kw::opencl

#include "device/opencl/instruction_kind.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

namespace kw::opencl {
namespace {

/// Beginnings of the names of arithmetic, without the v of vector extensions.
constexpr auto k_arithmetic = std::to_array<std::string_view>(
    {"add",    "sub",      "mul",      "div", "sqrt",  "min",  "max",  "fmadd", "fmsub",  "fnmadd",
     "fnmsub", "fmaddsub", "fmsubadd", "rcp", "rsqrt", "hadd", "hsub", "dp",    "scalef", "rndscale"});

/// Bits of an element of arithmetic on floats, and whether there are several; 0 for any other instruction.
struct FloatForm {
  int element_bits = 0;
  bool packed = false;
};

FloatForm float_form(std::string_view name) {
  if (name.starts_with('v')) name.remove_prefix(1);
  const bool arithmetic =
      std::ranges::any_of(k_arithmetic, [&](std::string_view begin) { return name.starts_with(begin); });
  if (!arithmetic) return {};
  if (name.ends_with("ps")) return {32, true};
  if (name.ends_with("pd")) return {64, true};
  if (name.ends_with("ss")) return {32, false};
  if (name.ends_with("sd")) return {64, false};
  return {};
}

std::span<const cs_x86_op> operands_of(const cs_insn& instruction) {
  return std::span(instruction.detail->x86.operands, instruction.detail->x86.op_count);
}

bool in_group(const cs_insn& instruction, unsigned group) {
  const std::span groups(instruction.detail->groups, instruction.detail->groups_count);
  return std::ranges::find(groups, group) != groups.end();
}

void note_arithmetic(const cs_insn& instruction, InstructionKind& kind) {
  const FloatForm form = float_form(instruction.mnemonic);
  if (form.element_bits == 0) return;
  constexpr int k_bits_of_byte = 8;
  int widest = 0;
  for (const cs_x86_op& operand : operands_of(instruction)) {
    if (operand.type == X86_OP_REG) widest = std::max(widest, k_bits_of_byte * static_cast<int>(operand.size));
  }
  kind.floats = form.packed ? std::max(1, widest / form.element_bits) : 1;
  kind.bits = form.packed ? widest : form.element_bits;
}

void note_memory(const cs_insn& instruction, bool framed, InstructionKind& kind) {
  const bool computes_address = instruction.id == X86_INS_LEA || instruction.id == X86_INS_NOP;
  if (computes_address) return;
  for (const cs_x86_op& operand : operands_of(instruction)) {
    if (operand.type != X86_OP_MEM) continue;
    kind.memory = true;
    kind.stack = operand.mem.base == X86_REG_RSP || (framed && operand.mem.base == X86_REG_RBP);
  }
}

void note_target(const cs_insn& instruction, InstructionKind& kind) {
  kind.call = in_group(instruction, CS_GRP_CALL);
  if (!kind.call && !in_group(instruction, CS_GRP_JUMP)) return;
  for (const cs_x86_op& operand : operands_of(instruction)) {
    if (operand.type == X86_OP_IMM) kind.target = static_cast<std::uint64_t>(operand.imm);
    if (operand.type == X86_OP_MEM && operand.mem.base == X86_REG_RIP) {
      kind.indirect = instruction.address + instruction.size + static_cast<std::uint64_t>(operand.mem.disp);
    }
  }
}

}  // namespace

InstructionKind kind_of_instruction(const cs_insn& instruction, bool framed) {
  InstructionKind kind;
  kind.address = instruction.address;
  note_arithmetic(instruction, kind);
  note_memory(instruction, framed, kind);
  note_target(instruction, kind);
  if (kind.call || kind.target || kind.indirect) kind.memory = kind.stack = false;
  return kind;
}

bool sets_frame_pointer(const cs_insn& instruction) {
  const auto operands = operands_of(instruction);
  return instruction.id == X86_INS_MOV && operands.size() == 2 && operands[0].type == X86_OP_REG &&
         operands[0].reg == X86_REG_RBP && operands[1].type == X86_OP_REG && operands[1].reg == X86_REG_RSP;
}

}  // namespace kw::opencl

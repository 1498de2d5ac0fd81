#include "device/sim/function_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <span>

#include "device/disassembler.hpp"

namespace kw::sim {
namespace {

/// What the address in a register leads to, as far as it is known.
enum class LeadsTo : std::uint8_t {
  anywhere,
  own,             ///< the function's stack, or a constant
  first_argument,  ///< as given, or a place at some distance
};

constexpr std::size_t k_registers = 16;
constexpr std::size_t k_no_register = k_registers;
using RegisterNames = std::array<x86_reg, 4>;
constexpr std::array<RegisterNames, k_registers> k_names{{
    {X86_REG_RAX, X86_REG_EAX, X86_REG_AX, X86_REG_AL},
    {X86_REG_RCX, X86_REG_ECX, X86_REG_CX, X86_REG_CL},
    {X86_REG_RDX, X86_REG_EDX, X86_REG_DX, X86_REG_DL},
    {X86_REG_RBX, X86_REG_EBX, X86_REG_BX, X86_REG_BL},
    {X86_REG_RSP, X86_REG_ESP, X86_REG_SP, X86_REG_SPL},
    {X86_REG_RBP, X86_REG_EBP, X86_REG_BP, X86_REG_BPL},
    {X86_REG_RSI, X86_REG_ESI, X86_REG_SI, X86_REG_SIL},
    {X86_REG_RDI, X86_REG_EDI, X86_REG_DI, X86_REG_DIL},
    {X86_REG_R8, X86_REG_R8D, X86_REG_R8W, X86_REG_R8B},
    {X86_REG_R9, X86_REG_R9D, X86_REG_R9W, X86_REG_R9B},
    {X86_REG_R10, X86_REG_R10D, X86_REG_R10W, X86_REG_R10B},
    {X86_REG_R11, X86_REG_R11D, X86_REG_R11W, X86_REG_R11B},
    {X86_REG_R12, X86_REG_R12D, X86_REG_R12W, X86_REG_R12B},
    {X86_REG_R13, X86_REG_R13D, X86_REG_R13W, X86_REG_R13B},
    {X86_REG_R14, X86_REG_R14D, X86_REG_R14W, X86_REG_R14B},
    {X86_REG_R15, X86_REG_R15D, X86_REG_R15W, X86_REG_R15B},
}};
constexpr std::size_t k_stack_pointer = 4;
constexpr std::size_t k_first_argument = 7;
/// Those that a call may change: System V ABI for x86-64, section 3.2.1.
constexpr auto k_changed_by_calls = std::to_array<std::size_t>({0, 1, 2, 6, 7, 8, 9, 10, 11});

std::size_t register_of(x86_reg reg) {
  for (std::size_t i = 0; i < k_registers; ++i) {
    if (std::ranges::find(k_names[i], reg) != k_names[i].end()) return i;
  }
  return k_no_register;
}

/// What the linker will put into an instruction, by the place of its bytes in the section.
struct Reference {
  std::string_view symbol;
  bool constant = false;    ///< lies in a section that cannot be written
  bool to_address = false;  ///< to a place where the loader writes the symbol's address
};
using References = std::map<std::uint64_t, Reference>;

References references_to(const ElfFile& file, const Elf64_Shdr& relocations) {
  References references;
  if (relocations.sh_link >= file.sections.size()) return references;
  const Elf64_Shdr& table = file.sections[relocations.sh_link];
  Elf64_Rela one{};
  for (std::uint64_t at = 0; read_at(file.contents(relocations), at, one); at += sizeof one) {
    Elf64_Sym symbol{};
    if (!read_at(file.contents(table), ELF64_R_SYM(one.r_info) * sizeof symbol, symbol)) continue;
    const std::uint64_t type = ELF64_R_TYPE(one.r_info);
    const bool in_file = symbol.st_shndx != SHN_UNDEF && symbol.st_shndx < file.sections.size();
    references[one.r_offset] = {text_at(file.linked(table), symbol.st_name),
                                in_file && (file.sections[symbol.st_shndx].sh_flags & SHF_WRITE) == 0,
                                type == R_X86_64_GOTPCREL || type == R_X86_64_GOTPCRELX ||
                                    type == R_X86_64_REX_GOTPCRELX || type == R_X86_64_GOTTPOFF ||
                                    type == R_X86_64_GOTPC32_TLSDESC};
  }
  return references;
}

/// Reads one function, instruction after instruction in the order of the text.
class FunctionReader {
 public:
  FunctionReader(Disassembler& disassembler, const References& references)
      : disassembler_(disassembler), references_(references) {
    leads_to_[k_stack_pointer] = LeadsTo::own;
    leads_to_[k_first_argument] = LeadsTo::first_argument;
  }

  void read(std::string_view code, std::uint64_t offset, FunctionMemory& function) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(code.data());
    std::size_t left = code.size();
    std::uint64_t address = offset;
    while (left > 0) {
      if (!cs_disasm_iter(disassembler_.handle, &bytes, &left, &address, disassembler_.instruction)) {
        function.access = "an instruction that cannot be read";
        return;
      }
      step(*disassembler_.instruction, function);
    }
  }

 private:
  void step(const cs_insn& one, FunctionMemory& function) {
    const Reference* reference = reference_in(one);
    const bool call = cs_insn_group(disassembler_.handle, &one, CS_GRP_CALL);
    const bool goes = call || cs_insn_group(disassembler_.handle, &one, CS_GRP_JUMP);
    if (goes && reference != nullptr) function.called.push_back(reference->symbol);
    if (function.access.empty() && !goes && reaches_memory(one, reference)) {
      function.access = fmt::format("{} {}", one.mnemonic, one.op_str);
    }
    if (call) {
      for (const std::size_t reg : k_changed_by_calls) leads_to_[reg] = LeadsTo::anywhere;
    } else {
      follow_addresses(one, reference);
    }
  }

  [[nodiscard]] const Reference* reference_in(const cs_insn& one) const {
    const auto found = references_.lower_bound(one.address);
    return found != references_.end() && found->first < one.address + one.size ? &found->second : nullptr;
  }

  [[nodiscard]] bool reaches_memory(const cs_insn& one, const Reference* reference) const {
    if (one.id == X86_INS_LEA || one.id == X86_INS_NOP) return false;
    const cs_x86& x86 = one.detail->x86;
    return std::ranges::any_of(std::span(x86.operands, x86.op_count), [&](const cs_x86_op& operand) {
      return operand.type == X86_OP_MEM && reaches(operand, reference);
    });
  }

  [[nodiscard]] bool reaches(const cs_x86_op& operand, const Reference* reference) const {
    const x86_op_mem& memory = operand.mem;
    if (memory.base == X86_REG_RIP) return reference == nullptr || !(reference->constant || reference->to_address);
    // The thread's own address, which stands at the beginning of its memory.
    if (memory.segment == X86_REG_FS && memory.base == X86_REG_INVALID && memory.disp == 0) return false;
    if (memory.segment != X86_REG_INVALID) return true;
    const LeadsTo base = leads_to(memory.base);
    const bool writes_only = (operand.access & CS_AC_READ) == 0;
    return base != LeadsTo::own && !(base == LeadsTo::first_argument && writes_only);
  }

  [[nodiscard]] LeadsTo leads_to(x86_reg reg) const {
    const std::size_t index = register_of(reg);
    return index == k_no_register ? LeadsTo::anywhere : leads_to_[index];
  }

  /// After the instruction. A sum leads where its first part led.
  void follow_addresses(const cs_insn& one, const Reference* reference) {
    const cs_x86& x86 = one.detail->x86;
    if (one.id == X86_INS_ADD || one.id == X86_INS_SUB || one.id == X86_INS_AND || one.id == X86_INS_INC) return;
    const bool copies = one.id == X86_INS_MOV || one.id == X86_INS_LEA;
    LeadsTo result = LeadsTo::anywhere;
    if (copies && x86.op_count == 2) {
      const cs_x86_op& from = x86.operands[1];
      if (from.type == X86_OP_REG) result = leads_to(from.reg);
      if (one.id == X86_INS_LEA) result = leads_to(from.mem.base);
      const bool constant = reference != nullptr && reference->constant;
      if (from.type == X86_OP_MEM && from.mem.base == X86_REG_RIP && constant) result = LeadsTo::own;
    }
    cs_regs read{};
    cs_regs written{};
    std::uint8_t read_count = 0;
    std::uint8_t written_count = 0;
    if (cs_regs_access(disassembler_.handle, &one, read, &read_count, written, &written_count) != CS_ERR_OK) return;
    for (std::uint8_t i = 0; i < written_count; ++i) {
      const std::size_t reg = register_of(static_cast<x86_reg>(written[i]));
      if (reg != k_no_register && reg != k_stack_pointer) leads_to_[reg] = result;
    }
  }

  Disassembler& disassembler_;
  const References& references_;
  std::array<LeadsTo, k_registers> leads_to_{};
};

References references_of_section(const ElfFile& file, std::size_t section) {
  for (const Elf64_Shdr& one : file.sections) {
    if (one.sh_type == SHT_RELA && one.sh_info == section) return references_to(file, one);
  }
  return {};
}

}  // namespace

std::vector<FunctionMemory> memory_of_functions(const ElfFile& file) {
  std::vector<FunctionMemory> functions;
  std::map<std::size_t, References> references;
  Disassembler disassembler;
  for (const Elf64_Shdr& table : file.sections) {
    if (table.sh_type != SHT_SYMTAB) continue;
    Elf64_Sym symbol{};
    for (std::uint64_t at = 0; read_at(file.contents(table), at, symbol); at += sizeof symbol) {
      const bool defined = symbol.st_shndx != SHN_UNDEF && symbol.st_shndx < file.sections.size();
      if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || !defined) continue;
      FunctionMemory& function = functions.emplace_back();
      function.name = text_at(file.linked(table), symbol.st_name);
      const std::string_view code = file.contents(file.sections[symbol.st_shndx]);
      if (disassembler.instruction == nullptr || symbol.st_value > code.size()) {
        function.access = "code that cannot be read";
        continue;
      }
      auto known = references.find(symbol.st_shndx);
      if (known == references.end()) {
        known = references.emplace(symbol.st_shndx, references_of_section(file, symbol.st_shndx)).first;
      }
      FunctionReader(disassembler, known->second)
          .read(code.substr(symbol.st_value, symbol.st_size), symbol.st_value, function);
    }
  }
  return functions;
}

}  // namespace kw::sim

#include "device/opencl/machine_code.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "device/elf_file.hpp"
#include "device/opencl/instruction_kind.hpp"
#include "device/opencl/instruction_policy.hpp"
#include "device/opencl/pocl_cache.hpp"

namespace kw::opencl {
namespace {

constexpr std::size_t k_most_called = 8;

struct Function {
  std::string_view name;
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
};

/// Functions by address, and names by the place in the table of addresses that the linker fills.
struct Symbols {
  std::map<std::uint64_t, Function> functions;
  std::map<std::uint64_t, std::string_view> slots;
};

void read_functions(const ElfFile& file, const Elf64_Shdr& table, Symbols& symbols) {
  const std::string_view entries = file.contents(table);
  Elf64_Sym symbol{};
  for (std::uint64_t at = 0; read_at(entries, at, symbol); at += sizeof symbol) {
    if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF) continue;
    symbols.functions[symbol.st_value] = {text_at(file.linked(table), symbol.st_name), symbol.st_value, symbol.st_size};
  }
}

void read_slots(const ElfFile& file, const Elf64_Shdr& relocations, Symbols& symbols) {
  if (relocations.sh_link >= file.sections.size()) return;
  const Elf64_Shdr& table = file.sections[relocations.sh_link];
  Elf64_Rela one{};
  for (std::uint64_t at = 0; read_at(file.contents(relocations), at, one); at += sizeof one) {
    Elf64_Sym symbol{};
    if (!read_at(file.contents(table), ELF64_R_SYM(one.r_info) * sizeof symbol, symbol)) continue;
    const std::string_view name = text_at(file.linked(table), symbol.st_name);
    symbols.slots[one.r_offset] = name.substr(0, name.find('@'));
  }
}

Symbols read_symbols(const ElfFile& file) {
  Symbols symbols;
  for (const Elf64_Shdr& section : file.sections) {
    if (section.sh_type == SHT_SYMTAB || section.sh_type == SHT_DYNSYM) read_functions(file, section, symbols);
    if (section.sh_type == SHT_RELA) read_slots(file, section, symbols);
  }
  return symbols;
}

/// The bytes of code from an address on, at most `most`; empty outside of code.
std::string_view code_at(const ElfFile& file, std::uint64_t address, std::uint64_t most) {
  for (const Elf64_Shdr& section : file.sections) {
    const std::string_view bytes = file.contents(section);
    const bool code = (section.sh_flags & SHF_EXECINSTR) != 0;
    if (!code || address < section.sh_addr || address - section.sh_addr >= bytes.size()) continue;
    return bytes.substr(address - section.sh_addr, most);
  }
  return {};
}

/// Stops where nothing can be read any more.
std::vector<InstructionKind> instructions_of(std::string_view code, std::uint64_t address) {
  std::vector<InstructionKind> instructions;
  Disassembler disassembler;
  if (disassembler.instruction == nullptr) return instructions;
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(code.data());
  std::size_t left = code.size();
  bool framed = false;
  while (left > 0) {
    if (cs_disasm_iter(disassembler.handle, &bytes, &left, &address, disassembler.instruction)) {
      framed = framed || sets_frame_pointer(*disassembler.instruction);
      instructions.push_back(kind_of_instruction(*disassembler.instruction, framed));
      continue;
    }
    const std::size_t skipped = vector_instruction_bytes(code.substr(code.size() - left));
    if (skipped == 0) break;
    instructions.push_back({});
    instructions.back().address = address;
    bytes += skipped;
    left -= skipped;
    address += skipped;
  }
  return instructions;
}

using Stretch = std::span<const InstructionKind>;

/// From the target of each jump back to the jump, without those that hold another.
std::vector<Stretch> innermost_loops(const std::vector<InstructionKind>& all) {
  std::vector<Stretch> loops;
  const InstructionKind* latest_begin = all.data();
  for (std::size_t last = 0; last < all.size(); ++last) {
    const InstructionKind& jump = all[last];
    if (jump.call || !jump.target || *jump.target > jump.address) continue;
    const auto first = std::ranges::lower_bound(all, *jump.target, {}, &InstructionKind::address);
    if (first == all.end() || first->address != *jump.target) continue;
    const Stretch loop(&*first, &all[last] + 1);
    // Those before end earlier: one of them that begins no earlier lies within.
    if (!loops.empty() && latest_begin >= loop.data()) continue;
    latest_begin = loop.data();
    loops.push_back(loop);
  }
  return loops;
}

std::int64_t floats_in(Stretch stretch) {
  std::int64_t floats = 0;
  for (const InstructionKind& one : stretch) floats += one.floats;
  return floats;
}

/// The function that a call ends in: one of the library, or one of the process by way of a jump through the table.
std::string_view called_by(const ElfFile& file, const Symbols& symbols, const InstructionKind& call) {
  const auto slot_name = [&](const std::optional<std::uint64_t>& slot) {
    const auto found = slot ? symbols.slots.find(*slot) : symbols.slots.end();
    return found == symbols.slots.end() ? std::string_view() : found->second;
  };
  if (!call.target) return slot_name(call.indirect);
  const auto known = symbols.functions.find(*call.target);
  if (known != symbols.functions.end()) return known->second.name;
  constexpr std::uint64_t k_stub_bytes = 16;
  for (const InstructionKind& one : instructions_of(code_at(file, *call.target, k_stub_bytes), *call.target)) {
    if (one.indirect) return slot_name(one.indirect);
  }
  return {};
}

InstructionMix mix_of(Stretch stretch, const ElfFile& file, const Symbols& symbols) {
  InstructionMix mix;
  for (const InstructionKind& one : stretch) {
    ++mix.instructions;
    mix.vector_floats += one.floats > 1 ? 1 : 0;
    mix.scalar_floats += one.floats == 1 ? 1 : 0;
    if (one.floats > 1) mix.vector_bits = std::max<std::int64_t>(mix.vector_bits, one.bits);
    mix.loads_stores += one.memory && !one.stack ? 1 : 0;
    mix.stack_accesses += one.stack ? 1 : 0;
    mix.calls += one.call ? 1 : 0;
    if (!one.call) continue;
    const std::string name(called_by(file, symbols, one));
    const bool known = name.empty() || std::ranges::find(mix.called, name) != mix.called.end();
    if (!known && mix.called.size() < k_most_called) mix.called.push_back(name);
  }
  return mix;
}

/// "_pocl_kernel_NAME_workgroup": the work of one group.
std::optional<Function> group_function(const Symbols& symbols) {
  for (const auto& [address, function] : symbols.functions) {
    if (function.name.starts_with("_pocl_kernel_") && function.name.ends_with("_workgroup")) return function;
  }
  return std::nullopt;
}

using Instructions = std::vector<InstructionKind>;

/// Of the function and of those in the library that it calls or goes on in, however deep.
std::vector<Instructions> reached_from(const Function& function, const ElfFile& file, const Symbols& symbols) {
  std::vector<Instructions> reached;
  std::set<std::uint64_t> known{function.begin};
  std::vector<Function> waiting{function};
  while (!waiting.empty()) {
    const Function next = waiting.back();
    waiting.pop_back();
    reached.push_back(instructions_of(code_at(file, next.begin, next.bytes), next.begin));
    for (const InstructionKind& one : reached.back()) {
      const auto other = one.target ? symbols.functions.find(*one.target) : symbols.functions.end();
      if (other != symbols.functions.end() && known.insert(*one.target).second) waiting.push_back(other->second);
    }
  }
  return reached;
}

/// The innermost loop with the most arithmetic on floats; without one that has any, all of the function that has most,
/// or of the longest. And whether it is a loop.
std::pair<Stretch, bool> busiest(const std::vector<Instructions>& functions) {
  Stretch loop;
  Stretch whole;
  for (const Instructions& one : functions) {
    for (const Stretch& inner : innermost_loops(one)) {
      if (floats_in(inner) > floats_in(loop)) loop = inner;
    }
    if (std::pair(floats_in(one), one.size()) > std::pair(floats_in(whole), whole.size())) whole = one;
  }
  return loop.empty() ? std::pair(whole, false) : std::pair(loop, true);
}

}  // namespace

std::optional<InstructionMix> machine_code_of(std::string_view library) {
  const auto file = read_elf(library);
  if (!file || file->header.e_machine != EM_X86_64) return std::nullopt;
  const Symbols symbols = read_symbols(*file);
  const auto function = group_function(symbols);
  if (!function) return std::nullopt;
  const auto functions = reached_from(*function, *file, symbols);
  const auto [stretch, loop] = busiest(functions);
  if (stretch.empty()) return std::nullopt;
  InstructionMix mix = mix_of(stretch, *file, symbols);
  mix.loop = loop;
  constexpr std::size_t k_prefix = std::string_view("_pocl_kernel_").size();
  constexpr std::size_t k_suffix = std::string_view("_workgroup").size();
  mix.kernel = function->name.substr(k_prefix, function->name.size() - k_prefix - k_suffix);
  return mix;
}

std::vector<InstructionMix> machine_code_in_cache(const std::filesystem::path& cache) {
  std::vector<InstructionMix> mixes;
  const auto libraries = compiled_kernels(cache);
  if (!libraries) return mixes;
  for (const auto& path : *libraries) {
    std::ifstream file(path, std::ios::binary);
    const std::string library{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    if (auto mix = machine_code_of(library)) mixes.push_back(*std::move(mix));
  }
  std::ranges::sort(mixes, {}, &InstructionMix::kernel);
  return mixes;
}

}  // namespace kw::opencl

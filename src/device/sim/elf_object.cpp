#include "device/sim/elf_object.hpp"

#include <elf.h>

#include <cstring>

namespace kw::sim {
namespace {

constexpr std::string_view k_kernel_section = ".text.kw_kernel";
/// The linker's own, for static shared variables.
constexpr std::string_view k_module_base = "_TLS_MODULE_BASE_";

/// Copies out a structure; false when it does not lie inside.
template <typename T>
bool read_at(std::string_view bytes, std::uint64_t offset, T& value) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof value) return false;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return true;
}

std::string_view part(std::string_view bytes, std::uint64_t offset, std::uint64_t size) {
  if (offset > bytes.size() || bytes.size() - offset < size) return {};
  return bytes.substr(offset, size);
}

std::string_view text_at(std::string_view table, std::uint64_t offset) {
  if (offset >= table.size()) return {};
  const std::string_view rest = table.substr(offset);
  return rest.substr(0, rest.find('\0'));
}

std::string_view contents(std::string_view bytes, const Elf64_Shdr& section) {
  return part(bytes, section.sh_offset, section.sh_size);
}

void read_symbols(std::string_view bytes, const std::vector<Elf64_Shdr>& sections,
                  const std::vector<std::string_view>& names, const Elf64_Shdr& table, ObjectFacts& facts) {
  if (table.sh_link >= sections.size()) return;
  const std::string_view symbols = contents(bytes, table);
  const std::string_view strings = contents(bytes, sections[table.sh_link]);
  Elf64_Sym symbol{};
  for (std::uint64_t at = 0; read_at(symbols, at, symbol); at += sizeof symbol) {
    const std::string_view name = text_at(strings, symbol.st_name);
    const int type = ELF64_ST_TYPE(symbol.st_info);
    const bool defined = symbol.st_shndx != SHN_UNDEF && symbol.st_shndx < names.size();
    const bool declared = type == STT_TLS && symbol.st_shndx == SHN_UNDEF;
    if (declared && name != k_module_base) facts.shared_arrays.emplace_back(name);
    const bool in_kernels = defined && names[symbol.st_shndx] == k_kernel_section;
    if (type == STT_FUNC && in_kernels) facts.kernels.emplace_back(name);
  }
}

}  // namespace

ObjectFacts read_object(std::string_view bytes) {
  ObjectFacts facts;
  Elf64_Ehdr header{};
  if (!read_at(bytes, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return facts;
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  for (std::size_t i = 0; i < sections.size(); ++i) {
    if (!read_at(bytes, header.e_shoff + i * sizeof(Elf64_Shdr), sections[i])) return facts;
  }
  if (header.e_shstrndx >= sections.size()) return facts;
  const std::string_view section_names = contents(bytes, sections[header.e_shstrndx]);
  std::vector<std::string_view> names;
  for (const Elf64_Shdr& section : sections) names.push_back(text_at(section_names, section.sh_name));
  std::uint64_t initialisers = 0;
  for (const Elf64_Shdr& section : sections) {
    if ((section.sh_flags & SHF_TLS) != 0) facts.static_shared_bytes += static_cast<std::int64_t>(section.sh_size);
    if (section.sh_type == SHT_INIT_ARRAY) initialisers += section.sh_size / sizeof(void*);
    if (section.sh_type == SHT_SYMTAB) read_symbols(bytes, sections, names, section, facts);
  }
  // One is the instrumentation's own.
  facts.runs_code_when_loaded = initialisers > 1;
  return facts;
}

}  // namespace kw::sim

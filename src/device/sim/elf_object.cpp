#include "device/sim/elf_object.hpp"

#include "device/elf_file.hpp"

namespace kw::sim {
namespace {

constexpr std::string_view k_kernel_section = ".text.kw_kernel";
/// The linker's own, for static shared variables.
constexpr std::string_view k_module_base = "_TLS_MODULE_BASE_";

void read_symbols(const ElfFile& file, const Elf64_Shdr& table, ObjectFacts& facts) {
  const std::string_view symbols = file.contents(table);
  Elf64_Sym symbol{};
  for (std::uint64_t at = 0; read_at(symbols, at, symbol); at += sizeof symbol) {
    const std::string_view name = text_at(file.linked(table), symbol.st_name);
    const int type = ELF64_ST_TYPE(symbol.st_info);
    const bool defined = symbol.st_shndx != SHN_UNDEF && symbol.st_shndx < file.names.size();
    const bool declared = type == STT_TLS && symbol.st_shndx == SHN_UNDEF;
    if (declared && name != k_module_base) facts.shared_arrays.emplace_back(name);
    const bool in_kernels = defined && file.names[symbol.st_shndx] == k_kernel_section;
    if (type == STT_FUNC && in_kernels) facts.kernels.emplace_back(name);
  }
}

}  // namespace

ObjectFacts read_object(std::string_view bytes) {
  ObjectFacts facts;
  const auto file = read_elf(bytes);
  if (!file) return facts;
  std::uint64_t initialisers = 0;
  for (const Elf64_Shdr& section : file->sections) {
    if ((section.sh_flags & SHF_TLS) != 0) facts.static_shared_bytes += static_cast<std::int64_t>(section.sh_size);
    if (section.sh_type == SHT_INIT_ARRAY) initialisers += section.sh_size / sizeof(void*);
    if (section.sh_type == SHT_SYMTAB) read_symbols(*file, section, facts);
  }
  // One is the instrumentation's own.
  facts.runs_code_when_loaded = initialisers > 1;
  return facts;
}

}  // namespace kw::sim

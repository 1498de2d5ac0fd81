#include "device/sim/elf_object.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "device/elf_file.hpp"

namespace kw::sim {
namespace {

constexpr std::string_view k_kernel_section = ".text.kw_kernel";
/// The linker's own, for static shared variables.
constexpr std::string_view k_module_base = "_TLS_MODULE_BASE_";
/// Of one variable; a damaged file may claim anything.
constexpr std::uint64_t k_most_bytes = std::uint64_t{1} << 32;

struct SharedVariable {
  std::string name;  ///< as the linker sees it
  std::int64_t bytes = 0;
};

/// What is in a kernel's body has that kernel's name in its own (Itanium C++ ABI, local names).
void sort_by_kernel(const std::vector<SharedVariable>& variables, ObjectFacts& facts) {
  for (const SharedVariable& variable : variables) {
    const auto kernel = std::find_if(facts.kernels.begin(), facts.kernels.end(), [&](const std::string& name) {
      return variable.name.rfind(fmt::format("_ZZ{}{}E", name.size(), name), 0) == 0;
    });
    (kernel == facts.kernels.end() ? facts.common_static_bytes : facts.own_static_bytes[*kernel]) += variable.bytes;
  }
}

void read_symbols(const ElfFile& file, const Elf64_Shdr& table, ObjectFacts& facts) {
  const std::string_view symbols = file.contents(table);
  Elf64_Sym symbol{};
  std::vector<SharedVariable> variables;
  for (std::uint64_t at = 0; read_at(symbols, at, symbol); at += sizeof symbol) {
    const std::string_view name = text_at(file.linked(table), symbol.st_name);
    const int type = ELF64_ST_TYPE(symbol.st_info);
    const bool defined = symbol.st_shndx != SHN_UNDEF && symbol.st_shndx < file.names.size();
    const bool declared = type == STT_TLS && symbol.st_shndx == SHN_UNDEF;
    if (declared && name != k_module_base) facts.shared_arrays.emplace_back(name);
    if (type == STT_TLS && defined) {
      variables.push_back({std::string(name), static_cast<std::int64_t>(std::min(symbol.st_size, k_most_bytes))});
    }
    const bool in_kernels = defined && file.names[symbol.st_shndx] == k_kernel_section;
    if (type == STT_FUNC && in_kernels) facts.kernels.emplace_back(name);
  }
  sort_by_kernel(variables, facts);
}

}  // namespace

ObjectFacts read_object(std::string_view bytes) {
  ObjectFacts facts;
  const auto file = read_elf(bytes);
  if (!file) return facts;
  std::uint64_t initialisers = 0;
  for (const Elf64_Shdr& section : file->sections) {
    if (section.sh_type == SHT_INIT_ARRAY) initialisers += section.sh_size / sizeof(void*);
    if (section.sh_type == SHT_SYMTAB) read_symbols(*file, section, facts);
  }
  // One is the instrumentation's own.
  facts.runs_code_when_loaded = initialisers > 1;
  return facts;
}

std::int64_t static_shared_bytes(const ObjectFacts& object, std::string_view kernel) {
  const auto own = object.own_static_bytes.find(kernel);
  return object.common_static_bytes + (own == object.own_static_bytes.end() ? 0 : own->second);
}

}  // namespace kw::sim

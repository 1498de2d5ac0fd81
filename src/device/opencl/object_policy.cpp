#include "device/opencl/object_policy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>

#include "device/arithmetic_functions.hpp"
#include "device/elf_file.hpp"
#include "device/opencl/instruction_policy.hpp"
#include "device/opencl/pocl_cache.hpp"

namespace kw::opencl {
namespace {

namespace fs = std::filesystem;
using Forbidden = std::optional<std::string>;

/// Functions of the process that compiled kernels call beside arithmetic: copies of memory, printf, and what the
/// processor has no instruction for. None of them reaches a file, a thread, a clock or state that a kernel chooses.
constexpr auto k_functions = std::to_array<std::string_view>(
    {"memcpy", "memmove", "memset", "snprintf", "sincos", "sincosf", "__extendhfsf2", "__truncsfhf2", "__truncdfhf2",
     "__gnu_h2f_ieee", "__gnu_f2h_ieee", "__divti3", "__udivti3", "__modti3", "__umodti3"});

constexpr const char* k_runs = "has a function that runs when it is loaded or unloaded";

bool may_be_called(std::string_view name) {
  return is_arithmetic_function(name) || std::ranges::find(k_functions, name) != k_functions.end();
}

Forbidden in_symbols(const ElfFile& file, const Elf64_Shdr& table) {
  const std::string_view symbols = file.contents(table);
  Elf64_Sym symbol{};
  for (std::uint64_t at = sizeof symbol; read_at(symbols, at, symbol); at += sizeof symbol) {
    // "expf@GLIBC_2.27" in the table that is not loaded.
    const std::string_view whole = text_at(file.linked(table), symbol.st_name);
    const std::string_view name = whole.substr(0, whole.find('@'));
    if (ELF64_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC) {
      return fmt::format("has a function, {}, that is chosen when it is loaded", name);
    }
    if (ELF64_ST_TYPE(symbol.st_info) == STT_TLS) return fmt::format("has a variable of each thread, {}", name);
    if (symbol.st_shndx == SHN_UNDEF && !may_be_called(name)) {
      return fmt::format("uses {}, which is no built-in of OpenCL C and not defined in it", name);
    }
  }
  return std::nullopt;
}

Forbidden in_relocations(const ElfFile& file, const Elf64_Shdr& table) {
  constexpr auto k_known =
      std::to_array<std::uint64_t>({R_X86_64_64, R_X86_64_GLOB_DAT, R_X86_64_JUMP_SLOT, R_X86_64_RELATIVE});
  if (file.header.e_machine != EM_X86_64) return std::nullopt;
  Elf64_Rela one{};
  for (std::uint64_t at = 0; read_at(file.contents(table), at, one); at += sizeof one) {
    if (std::ranges::find(k_known, ELF64_R_TYPE(one.r_info)) == k_known.end()) {
      return fmt::format("is loaded with a relocation of type {}", ELF64_R_TYPE(one.r_info));
    }
  }
  return std::nullopt;
}

/// What makes the loader run code of the library, change it, or load more than the C library.
Forbidden in_dynamic(const ElfFile& file, const Elf64_Shdr& section) {
  constexpr auto k_libraries = std::to_array<std::string_view>({"libc.so.6", "libm.so.6"});
  Elf64_Dyn entry{};
  for (std::uint64_t at = 0; read_at(file.contents(section), at, entry); at += sizeof entry) {
    switch (entry.d_tag) {
      case DT_INIT:
      case DT_FINI:
      case DT_INIT_ARRAY:
      case DT_FINI_ARRAY:
      case DT_PREINIT_ARRAY:
        return k_runs;
      case DT_TEXTREL:
        return "has the loader change its code";
      case DT_NEEDED:
      case DT_AUXILIARY:
      case DT_FILTER:
        if (const std::string_view name = text_at(file.linked(section), entry.d_un.d_val);
            std::ranges::find(k_libraries, name) == k_libraries.end()) {
          return fmt::format("has {} loaded", name);
        }
        break;
      default:
        break;
    }
  }
  return std::nullopt;
}

/// Sections that the linker makes writable until it has relocated them, and the tables of addresses.
bool is_the_linkers(std::string_view section) {
  constexpr auto k_names = std::to_array<std::string_view>({".dynamic", ".got", ".got.plt", ".data.rel.ro"});
  return std::ranges::find(k_names, section) != k_names.end();
}

Forbidden in_section(const ElfFile& file, const Elf64_Shdr& section, std::string_view name) {
  switch (section.sh_type) {
    case SHT_SYMTAB:
    case SHT_DYNSYM:
      return in_symbols(file, section);
    case SHT_RELA:
      return in_relocations(file, section);
    case SHT_DYNAMIC:
      return in_dynamic(file, section);
    default:
      break;
  }
  const bool loaded = (section.sh_flags & SHF_ALLOC) != 0 && section.sh_size > 0;
  if (!loaded) return std::nullopt;
  if ((section.sh_flags & SHF_WRITE) != 0) {
    const bool runs =
        section.sh_type == SHT_INIT_ARRAY || section.sh_type == SHT_FINI_ARRAY || section.sh_type == SHT_PREINIT_ARRAY;
    if (runs) return k_runs;
    if (is_the_linkers(name)) return std::nullopt;
    return fmt::format("keeps {} bytes of its own memory ({}) from one launch to the next", section.sh_size, name);
  }
  if ((section.sh_flags & SHF_EXECINSTR) == 0 || file.header.e_machine != EM_X86_64) return std::nullopt;
  auto instruction = forbidden_instruction(file.contents(section), section.sh_addr);
  if (instruction) return "holds an instruction that kernels may not use: " + *instruction;
  return std::nullopt;
}

}  // namespace

Forbidden forbidden_in_object(std::string_view library) {
  const auto file = read_elf(library);
  if (!file || file->header.e_type != ET_DYN) return "is no shared library";
  for (std::size_t i = 0; i < file->sections.size(); ++i) {
    const Elf64_Shdr& section = file->sections[i];
    if (section.sh_type != SHT_NOBITS && section.sh_size > 0 && file->contents(section).empty()) return "is cut off";
    if (auto found = in_section(*file, section, file->names[i])) return found;
  }
  return std::nullopt;
}

Forbidden forbidden_in_cache(const fs::path& cache) {
  const auto libraries = compiled_kernels(cache);
  if (!libraries) return libraries.error().message;
  for (const fs::path& path : *libraries) {
    std::ifstream file(path, std::ios::binary);
    const std::string library{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    if (auto found = forbidden_in_object(library)) {
      return fmt::format("what the compiler made of kernel {} {}", path.stem().string(), *found);
    }
  }
  return std::nullopt;
}

}  // namespace kw::opencl

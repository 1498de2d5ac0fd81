#include "device/sim/instrumentation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "device/arithmetic_functions.hpp"
#include "device/elf_file.hpp"
#include "device/sim/function_memory.hpp"

namespace kw::sim {
namespace {

using Finding = std::optional<std::string>;

/// Functions that a compiler calls of itself. Those that take addresses are the simulator's own (runtime/glue.cuh),
/// which look at them.
constexpr auto k_functions = std::to_array<std::string_view>(
    {"memcpy", "memmove", "memset", "frexp", "frexpf", "sincos", "sincosf", "__extendhfsf2", "__truncsfhf2",
     "__truncdfhf2", "__extendhfdf2", "__divti3", "__udivti3", "__modti3", "__umodti3", "__popcountdi2",
     "_GLOBAL_OFFSET_TABLE_", "__tls_get_addr", "_TLS_MODULE_BASE_"});
/// Of <math.h>, beside what any kernel may call: what CUDA and HIP have besides.
constexpr auto k_more_arithmetic = std::to_array<std::string_view>(
    {"exp10",  "exp10f",  "ilogb",   "ilogbf",   "j0",   "j0f",   "j1",    "j1f",    "lgamma", "lgammaf",
     "llrint", "llrintf", "llround", "llroundf", "logb", "logbf", "lrint", "lrintf", "lround", "lroundf",
     "scalbn", "scalbnf", "scalbln", "scalblnf", "y0",   "y0f",   "y1",    "y1f"});

bool is_the_simulators(std::string_view name) {
  return name.find("kw_sim") != std::string_view::npos;
}
bool is_the_instrumentations(std::string_view name) {
  return name.starts_with("__tsan_") || name.starts_with("__ubsan_") || name == "__sanitizer_cov_trace_pc";
}

bool may_be_needed(std::string_view name) {
  const auto is_among = [&](const auto& names) { return std::ranges::find(names, name) != names.end(); };
  return is_the_simulators(name) || is_the_instrumentations(name) || is_arithmetic_function(name) ||
         is_among(k_functions) || is_among(k_more_arithmetic);
}

/// What compilers make of kernels; ".rodata.cst4" begins with one of these and a dot.
bool is_usual(std::string_view section) {
  constexpr auto k_usual =
      std::to_array<std::string_view>({".text", ".rodata", ".data", ".bss", ".tdata", ".tbss", ".init_array",
                                       ".eh_frame", ".note", ".gcc_except_table", ".data.rel.ro"});
  return std::ranges::any_of(k_usual, [&](std::string_view usual) {
    return section == usual || (section.starts_with(usual) && section[usual.size()] == '.');
  });
}

Finding in_symbols(const ElfFile& file, const Elf64_Shdr& table) {
  const std::string_view symbols = file.contents(table);
  Elf64_Sym symbol{};
  for (std::uint64_t at = sizeof symbol; read_at(symbols, at, symbol); at += sizeof symbol) {
    const std::string_view name = text_at(file.linked(table), symbol.st_name);
    const int type = ELF64_ST_TYPE(symbol.st_info);
    if (name.empty()) continue;
    if (type == STT_GNU_IFUNC) return fmt::format("has a function, {}, that is chosen when it is loaded", name);
    if (symbol.st_shndx == SHN_UNDEF) {
      if (type != STT_TLS && !may_be_needed(name)) {
        return fmt::format("needs {}, which is no function of kernels", name);
      }
    } else if (is_the_instrumentations(name)) {
      return fmt::format("defines {}, a name of the simulator's", name);
    }
  }
  return std::nullopt;
}

Finding in_section(const ElfFile& file, std::size_t index) {
  const Elf64_Shdr& section = file.sections[index];
  const std::string_view name = file.names[index];
  if (section.sh_type == SHT_SYMTAB) return in_symbols(file, section);
  if ((section.sh_flags & SHF_ALLOC) == 0 || section.sh_size == 0) return std::nullopt;
  const bool runs = section.sh_type == SHT_PREINIT_ARRAY || section.sh_type == SHT_FINI_ARRAY;
  if (!is_usual(name) || runs) return fmt::format("has a section of its own, {}", name);
  return std::nullopt;
}

/// The compiler puts such a call in front of every access of a function, or of none.
bool announces(const std::vector<std::string_view>& called) {
  return std::ranges::any_of(called, [](auto name) { return name.starts_with("__tsan_"); });
}

}  // namespace

Finding uninstrumented(std::string_view object) {
  const auto file = read_elf(object);
  if (!file) return "cannot be read";
  for (std::size_t i = 0; i < file->sections.size(); ++i) {
    if (auto found = in_section(*file, i)) return found;
  }
  if (file->header.e_machine != EM_X86_64) return std::nullopt;
  for (const FunctionMemory& function : memory_of_functions(*file)) {
    if (is_the_simulators(function.name) || function.access.empty() || announces(function.called)) continue;
    return fmt::format("reaches memory ({}) in {} where the simulator does not see it", function.access, function.name);
  }
  return std::nullopt;
}

}  // namespace kw::sim

#pragma once
// What the functions of an object file for x86-64 do to memory, read with Capstone from their instructions.

#include <string>
#include <string_view>
#include <vector>

#include "device/elf_file.hpp"

namespace kw::sim {

struct FunctionMemory {
  std::string_view name;                 ///< as the linker sees it
  std::vector<std::string_view> called;  ///< functions outside of its section that it calls or jumps to
  /// The first access that is not to the function's stack, to a constant, or a write through its first argument; as it
  /// is written in assembly. "" for none, and words where instructions cannot be read.
  std::string access;
};

/// In the order of the file's symbols. `file` must outlive the result.
[[nodiscard]] std::vector<FunctionMemory> memory_of_functions(const ElfFile& file);

}  // namespace kw::sim

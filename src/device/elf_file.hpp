#pragma once
// An ELF file of 64 bits in memory, read within its bounds: what a compiler made of a source that nobody trusts.

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

namespace kw {

/// Of whatever lies outside of the file there is an empty part.
struct ElfFile {
  std::string_view bytes;  ///< must live as long as what is read of it
  Elf64_Ehdr header = {};
  std::vector<Elf64_Shdr> sections;
  std::vector<std::string_view> names;  ///< of the sections

  [[nodiscard]] std::string_view contents(const Elf64_Shdr& section) const;
  /// What the section's sh_link leads to, such as the names of its symbols.
  [[nodiscard]] std::string_view linked(const Elf64_Shdr& section) const;
};

/// Nothing when the bytes are no such file, or are cut off.
[[nodiscard]] std::optional<ElfFile> read_elf(std::string_view bytes);

/// Copies out a structure; false when it does not lie inside.
template <typename T>
bool read_at(std::string_view bytes, std::uint64_t offset, T& value) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof value) return false;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return true;
}

/// The text that ends with a zero; "" outside of the table.
[[nodiscard]] std::string_view text_at(std::string_view table, std::uint64_t offset);

}  // namespace kw

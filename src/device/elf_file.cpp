#include "device/elf_file.hpp"

namespace kw {

std::string_view text_at(std::string_view table, std::uint64_t offset) {
  if (offset >= table.size()) return {};
  const std::string_view rest = table.substr(offset);
  return rest.substr(0, rest.find('\0'));
}

std::string_view ElfFile::contents(const Elf64_Shdr& section) const {
  if (section.sh_type == SHT_NOBITS) return {};
  if (section.sh_offset > bytes.size() || bytes.size() - section.sh_offset < section.sh_size) return {};
  return bytes.substr(section.sh_offset, section.sh_size);
}

std::string_view ElfFile::linked(const Elf64_Shdr& section) const {
  return section.sh_link < sections.size() ? contents(sections[section.sh_link]) : std::string_view();
}

std::optional<ElfFile> read_elf(std::string_view bytes) {
  ElfFile file{bytes, {}, {}, {}};
  if (!read_at(bytes, 0, file.header) || std::memcmp(file.header.e_ident, ELFMAG, SELFMAG) != 0) return std::nullopt;
  if (file.header.e_ident[EI_CLASS] != ELFCLASS64) return std::nullopt;
  file.sections.resize(file.header.e_shnum);
  for (std::size_t i = 0; i < file.sections.size(); ++i) {
    if (!read_at(bytes, file.header.e_shoff + i * sizeof(Elf64_Shdr), file.sections[i])) return std::nullopt;
  }
  if (file.header.e_shstrndx >= file.sections.size()) return std::nullopt;
  const std::string_view table = file.contents(file.sections[file.header.e_shstrndx]);
  for (const Elf64_Shdr& section : file.sections) file.names.push_back(text_at(table, section.sh_name));
  return file;
}

}  // namespace kw

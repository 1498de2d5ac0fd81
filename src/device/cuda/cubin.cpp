#include "device/cuda/cubin.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/checked.hpp"

namespace kw::cuda {
namespace {

// Attributes of .nv.info: a byte of format, a byte of what it is, then two bytes that are the value itself or, in
// format 4, the length of the value that follows.
enum class Attribute : std::uint8_t {
  max_threads = 0x05,
  exact_block = 0x10,
  frame_bytes = 0x11,
  least_stack_bytes = 0x12,
  parameter = 0x17,
  registers = 0x2f,
};
constexpr std::uint8_t k_sized_value = 4;
constexpr std::size_t k_instruction_bytes = 16;
constexpr std::string_view k_info = ".nv.info.";

template <typename Value>
std::optional<Value> load(std::string_view bytes, std::size_t offset) {
  static_assert(std::is_trivially_copyable_v<Value>);
  if (offset > bytes.size() || bytes.size() - offset < sizeof(Value)) return std::nullopt;
  Value value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::string_view text_at(std::string_view strings, std::size_t offset) {
  if (offset >= strings.size()) return {};
  const std::string_view rest = strings.substr(offset);
  return rest.substr(0, rest.find('\0'));
}

struct Section {
  std::string_view name;
  std::string_view bytes;  ///< empty for one that takes no room in the file
  std::uint32_t type = 0;
  std::uint32_t link = 0;
};

Result<std::vector<Section>> read_sections(std::string_view file) {
  const auto header = load<Elf64_Ehdr>(file, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64) {
    return fail(errc::cubin, "the compiler's output is not a 64-bit ELF file");
  }
  std::vector<Elf64_Shdr> headers;
  std::vector<Section> sections;
  for (std::size_t i = 0; i < header->e_shnum; ++i) {
    const auto section = load<Elf64_Shdr>(file, header->e_shoff + i * sizeof(Elf64_Shdr));
    if (!section) return fail(errc::cubin, "section {} of {} lies outside the cubin", i, header->e_shnum);
    const bool here = section->sh_type != SHT_NOBITS;
    if (here && (section->sh_offset > file.size() || section->sh_size > file.size() - section->sh_offset)) {
      return fail(errc::cubin, "the bytes of section {} lie outside the cubin", i);
    }
    headers.push_back(*section);
    sections.push_back({{},
                        here ? file.substr(section->sh_offset, section->sh_size) : std::string_view{},
                        section->sh_type,
                        section->sh_link});
  }
  if (header->e_shstrndx >= sections.size()) return fail(errc::cubin, "the cubin's sections have no names");
  const std::string_view names = sections[header->e_shstrndx].bytes;
  for (std::size_t i = 0; i < sections.size(); ++i) sections[i].name = text_at(names, headers[i].sh_name);
  return sections;
}

const Section* find_section(const std::vector<Section>& sections, std::string_view name) {
  const auto found = std::find_if(sections.begin(), sections.end(), [&](const Section& s) { return s.name == name; });
  return found == sections.end() ? nullptr : &*found;
}

/// Name of symbol `index`; empty when there is none.
std::string_view symbol_name(const std::vector<Section>& sections, std::uint32_t index) {
  for (const Section& section : sections) {
    if (section.type != SHT_SYMTAB || section.link >= sections.size()) continue;
    const auto symbol = load<Elf64_Sym>(section.bytes, std::size_t{index} * sizeof(Elf64_Sym));
    return symbol ? text_at(sections[section.link].bytes, symbol->st_name) : std::string_view{};
  }
  return {};
}

/// Calls `visit(attribute, value)` for the attributes that have a sized value; false when the section is cut short.
template <typename Visit>
bool for_each_attribute(std::string_view info, const Visit& visit) {
  for (std::size_t at = 0; at < info.size();) {
    const auto format = load<std::uint8_t>(info, at);
    const auto attribute = load<std::uint8_t>(info, at + 1);
    const auto length = load<std::uint16_t>(info, at + 2);
    if (!format || !attribute || !length) return false;
    at += 4;
    if (*format != k_sized_value) continue;
    if (*length > info.size() - at) return false;
    visit(static_cast<Attribute>(*attribute), info.substr(at, *length));
    at += *length;
  }
  return true;
}

/// The low nine bits are the instruction, the next three the form of its operands.
void count_instruction(std::uint64_t word, CubinKernel& kernel) {
  constexpr std::uint64_t k_local_load = 0x183;
  constexpr std::uint64_t k_local_store = 0x187;
  // HMMA, IMMA, BMMA, DMMA and QMMA of mma.sync; HGMMA, IGMMA, BGMMA and QGMMA of wgmma; the one of tcgen05.mma.
  constexpr std::array<std::uint64_t, 10> k_tensor{0x03c, 0x037, 0x03d, 0x03f, 0x07a,
                                                   0x1f0, 0x1f1, 0x1f2, 0x1f3, 0x1ea};
  const std::uint64_t opcode = word & 0x1ff;
  ++kernel.instructions;
  if (opcode == k_local_load) ++kernel.local_loads;
  if (opcode == k_local_store) ++kernel.local_stores;
  if (std::find(k_tensor.begin(), k_tensor.end(), opcode) != k_tensor.end()) ++kernel.tensor_core_instructions;
}

void read_instructions(std::string_view text, CubinKernel& kernel) {
  for (std::size_t at = 0; at + k_instruction_bytes <= text.size(); at += k_instruction_bytes) {
    count_instruction(*load<std::uint64_t>(text, at), kernel);
  }
}

std::optional<std::array<std::int64_t, 3>> three_numbers(std::string_view value) {
  std::array<std::int64_t, 3> numbers{};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto number = load<std::uint32_t>(value, 4 * i);
    if (!number) return std::nullopt;
    numbers[i] = *number;
  }
  return numbers;
}

/// The largest number where it is larger: any bytes may stand in the file.
std::int64_t product(const std::array<std::int64_t, 3>& extents) {
  const auto area = checked_mul(extents[0], extents[1]);
  const auto volume = area ? checked_mul(*area, extents[2]) : std::nullopt;
  return volume.value_or(std::numeric_limits<std::int64_t>::max());
}

void read_own_attribute(Attribute attribute, std::string_view value, CubinKernel& kernel) {
  const auto numbers = three_numbers(value);
  if (!numbers) return;
  if (attribute == Attribute::max_threads) kernel.max_threads = product(*numbers);
  if (attribute == Attribute::exact_block) kernel.exact_block = numbers;
  if (attribute != Attribute::parameter) return;
  // An index, then 16 bits each of ordinal and offset, then a word whose upper 14 bits are the size.
  const auto ordinal = static_cast<std::size_t>((*numbers)[1] & 0xffff);
  constexpr std::size_t k_most_parameters = 4096;
  if (ordinal >= k_most_parameters) return;
  if (kernel.parameter_bytes.size() <= ordinal) kernel.parameter_bytes.resize(ordinal + 1);
  kernel.parameter_bytes[ordinal] = (*numbers)[2] >> 18;
}

void read_shared_attributes(const std::vector<Section>& sections, CubinKernel& kernel, std::string_view info) {
  for_each_attribute(info, [&](Attribute attribute, std::string_view value) {
    const auto symbol = load<std::uint32_t>(value, 0);
    const auto number = load<std::uint32_t>(value, 4);
    if (!symbol || !number || symbol_name(sections, *symbol) != kernel.name) return;
    if (attribute == Attribute::registers) kernel.registers = *number;
    const bool stack = attribute == Attribute::frame_bytes || attribute == Attribute::least_stack_bytes;
    if (stack) kernel.stack_bytes = std::max<std::int64_t>(kernel.stack_bytes, *number);
  });
}

}  // namespace

Result<std::vector<CubinKernel>> read_cubin(std::string_view bytes) {
  KW_TRY(const std::vector<Section> sections, read_sections(bytes));
  const Section* const shared_info = find_section(sections, ".nv.info");
  std::vector<CubinKernel> kernels;
  for (const Section& section : sections) {
    if (!section.name.starts_with(k_info)) continue;
    CubinKernel kernel;
    kernel.name = section.name.substr(k_info.size());
    const bool whole = for_each_attribute(section.bytes, [&](Attribute attribute, std::string_view value) {
      read_own_attribute(attribute, value, kernel);
    });
    if (!whole) return fail(errc::cubin, "the attributes of kernel '{}' are cut short", kernel.name);
    if (shared_info != nullptr) read_shared_attributes(sections, kernel, shared_info->bytes);
    if (const Section* text = find_section(sections, ".text." + kernel.name)) read_instructions(text->bytes, kernel);
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

}  // namespace kw::cuda

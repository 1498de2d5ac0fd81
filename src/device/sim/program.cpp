#include "device/sim/program.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "device/device.hpp"

namespace kw::sim {
namespace {

constexpr std::string_view k_magic = "kw-sim-1";

template <typename Number>
bool parse_number(std::string_view text, Number& number, int base) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return error == std::errc{} && end == text.data() + text.size();
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; (at = line.find_first_not_of(" \t", at)) != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(" \t", at), line.size());
    words.push_back(line.substr(at, end - at));
    at = end;
  }
  return words;
}

void append_number(std::string& bytes, std::uint64_t number) {
  char raw[sizeof number];
  std::memcpy(raw, &number, sizeof number);
  bytes.append(raw, sizeof raw);
}

bool take_number(std::string_view& bytes, std::uint64_t& number) {
  if (bytes.size() < sizeof number) return false;
  std::memcpy(&number, bytes.data(), sizeof number);
  bytes.remove_prefix(sizeof number);
  return true;
}

constexpr std::uint64_t k_inlined_bit = std::uint64_t{1} << 32;

/// The last entry that begins at the address or before it; null when there is none.
const LineEntry* entry_at(const std::vector<LineEntry>& lines, std::uint64_t address) {
  const auto after = std::upper_bound(lines.begin(), lines.end(), address,
                                      [](std::uint64_t a, const LineEntry& entry) { return a < entry.address; });
  return after == lines.begin() ? nullptr : &*std::prev(after);
}

/// Code of ours has the line of the candidate's that stands before it.
void place_inlined(std::vector<LineEntry>& entries) {
  int line = 0;
  for (LineEntry& entry : entries) {
    if (entry.inlined) entry.line = line;
    line = entry.line;
  }
}

}  // namespace

int Program::line_at(std::uint64_t address) const {
  const LineEntry* entry = entry_at(lines, address);
  return entry == nullptr ? 0 : entry->line;
}

bool Program::is_inlined_at(std::uint64_t address) const {
  const LineEntry* entry = entry_at(lines, address);
  return entry != nullptr && entry->inlined;
}

std::string encode(const Program& program) {
  std::string bytes(k_magic);
  append_number(bytes, program.lines.size());
  for (const LineEntry& entry : program.lines) {
    append_number(bytes, entry.address);
    append_number(bytes, static_cast<std::uint64_t>(entry.line) | (entry.inlined ? k_inlined_bit : 0));
  }
  return bytes + program.object;
}

Result<Program> decode_program(std::string_view bytes) {
  Program program;
  std::uint64_t count = 0;
  const bool ours = bytes.substr(0, k_magic.size()) == k_magic;
  if (ours) bytes.remove_prefix(k_magic.size());
  if (!ours || !take_number(bytes, count) || count > bytes.size() / (2 * sizeof count)) {
    return fail(errc::device_refused, "this is not a program for the simulator");
  }
  program.lines.resize(count);
  for (LineEntry& entry : program.lines) {
    std::uint64_t line = 0;
    if (!take_number(bytes, entry.address) || !take_number(bytes, line)) break;
    entry.line = static_cast<int>(line & (k_inlined_bit - 1));
    entry.inlined = (line & k_inlined_bit) != 0;
  }
  program.object = bytes;
  return program;
}

std::vector<LineEntry> parse_line_table(std::string_view text, std::string_view source) {
  std::vector<LineEntry> entries;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const auto words = words_of(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (words.size() < 3 || words[2].substr(0, 2) != "0x") continue;
    LineEntry entry;
    entry.inlined = words[0] != source;
    if (!parse_number(words[2].substr(2), entry.address, 16)) continue;
    if (words[1] != "-" && !parse_number(words[1], entry.line, 10)) continue;
    // The end of a sequence belongs to nothing.
    if (entry.inlined && words[1] == "-") continue;
    entries.push_back(entry);
  }
  std::stable_sort(entries.begin(), entries.end(),
                   [](const LineEntry& a, const LineEntry& b) { return a.address < b.address; });
  place_inlined(entries);
  return entries;
}

}  // namespace kw::sim

#include "language/kernel_texts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/result.hpp"

namespace kw {
namespace {

constexpr std::string_view k_note = "// --- ", k_section = "// --- section: ";

/// Where the next section's line begins, from the start of the line at `at` on.
std::size_t next_section(std::string_view text, std::size_t at) {
  while (at < text.size() && !text.substr(at).starts_with(k_section)) {
    const std::size_t end = text.find('\n', at);
    at = end == std::string_view::npos ? text.size() : end + 1;
  }
  return at;
}

/// Takes the first line, without its end.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

void append_sections(const EmbeddedText& file, std::vector<KernelSection>& sections) {
  for (std::size_t at = next_section(file.text, 0); at < file.text.size();) {
    const std::size_t end = next_section(file.text, at + k_section.size());
    std::string_view rest = file.text.substr(at, end - at);
    const std::string_view name = take_line(rest).substr(k_section.size());
    while (rest.starts_with(k_note)) take_line(rest);
    while (rest.ends_with("\n\n")) rest.remove_suffix(1);
    sections.push_back({file.name, name, rest});
    at = end;
  }
}

}  // namespace

const std::vector<KernelSection>& kernel_sections() {
  static const std::vector<KernelSection> k_sections = [] {
    std::vector<KernelSection> sections;
    for (const EmbeddedText& file : embedded_kernel_texts()) append_sections(file, sections);
    return sections;
  }();
  return k_sections;
}

std::string_view kernel_text(std::string_view file, std::string_view section) {
  const auto& sections = kernel_sections();
  const auto found = std::find_if(sections.begin(), sections.end(), [&](const KernelSection& known) {
    return known.file == file && known.name == section;
  });
  KW_CHECK(found != sections.end(), "kernels/{} has no section \"{}\"", file, section);
  return found->text;
}

std::string_view kernel_file_comment(std::string_view file_text) {
  return file_text.substr(0, next_section(file_text, 0));
}

}  // namespace kw

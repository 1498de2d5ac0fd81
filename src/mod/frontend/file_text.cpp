#include "mod/frontend/file_text.hpp"

#include "python/errors.hpp"

namespace kw {

Result<std::string> python_file_text(std::string_view bytes) {
  constexpr std::string_view k_byte_order_mark = "\xEF\xBB\xBF";
  constexpr std::string_view k_utf16_marks[] = {"\xFF\xFE", "\xFE\xFF"};
  bool wide = bytes.find('\0') != std::string_view::npos;  // UTF-16 without a mark, or no text at all
  for (const auto mark : k_utf16_marks) wide = wide || bytes.starts_with(mark);
  if (wide) return fail_at(errc::mod_syntax, {"", 1, 1}, "the file is not UTF-8 text", "save it as UTF-8");
  if (bytes.starts_with(k_byte_order_mark)) bytes.remove_prefix(k_byte_order_mark.size());
  std::string text(bytes);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool alone = text[i] == '\r' && (i + 1 == text.size() || text[i + 1] != '\n');
    if (alone) text[i] = '\n';
  }
  return text;
}

}  // namespace kw

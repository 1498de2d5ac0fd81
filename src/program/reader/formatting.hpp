#pragma once
// How Python writes values into texts: str(), "..." % values, "...".format(...) and the fields of f-strings. Modules
// have names made so, which is why a field has to be as Python writes it.

#include <optional>
#include <string>
#include <string_view>

#include "program/reader/value.hpp"

namespace kw {

/// Stands in a text for a value that is not known while a module is read, such as a tensor's elements. Such a text may
/// be printed or raised; as a name it is refused.
inline constexpr std::string_view k_unknown_text = "{...}";

/// As str() does.
[[nodiscard]] std::string shown_text(const PyValue& value);
/// As repr() does.
[[nodiscard]] std::string quoted_text(const PyValue& value);
/// As format() does, with a format such as "02d" or ".3f". Unknown where the format is none of numbers and texts.
[[nodiscard]] std::string formatted_text(const PyValue& value, std::string_view format);
/// text % values. Absent where the values do not fit the text.
[[nodiscard]] std::optional<std::string> percent_text(std::string_view text, const PyValue& values);
/// text.format(...). Absent likewise.
[[nodiscard]] std::optional<std::string> braced_text(std::string_view text, const PyArguments& arguments);

/// A field of an f-string, without its braces: "name", "i + 1", "x!r", "i:02d".
struct TextField {
  std::string_view expression;
  std::string_view format;
  bool quoted = false;  ///< "!r"
};
[[nodiscard]] TextField text_field(std::string_view inside);
/// Where the field ends that begins behind an opening brace: the place of its closing one, or the text's end.
[[nodiscard]] std::size_t end_of_field(std::string_view text);

}  // namespace kw

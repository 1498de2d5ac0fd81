#pragma once
// A kernel's source as a preprocessor sees it after its first phases: lines that backslashes join, without comments.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kw {

struct SourceLines {
  std::vector<std::string> lines;
  /// What of the text compilers read in different ways, so that nothing certain can be said of its lines; it is then to
  /// be refused. Words that follow "the source uses".
  std::optional<std::string> ambiguous;
};

/// Strings and characters stay as they are; a comment becomes one space, and so does every other blank.
[[nodiscard]] SourceLines source_lines(std::string_view source);

/// A line's directive: its word, and what follows it without the space around. Nothing for other lines; an empty word
/// for a `#` that stands alone.
struct Directive {
  std::string_view word;
  std::string_view rest;
};
[[nodiscard]] std::optional<Directive> directive_of(std::string_view line);

/// Of C: letters, digits, underscores, not a digit first.
[[nodiscard]] std::vector<std::string_view> identifiers_in(std::string_view text);

}  // namespace kw

#include "verify/checking/source_lines.hpp"

#include <algorithm>
#include <cctype>

#include "base/text.hpp"

namespace kw {
namespace {

constexpr std::string_view k_blanks = " \t\v\f";

bool in_identifier(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

/// What compilers do not agree on.
std::optional<std::string> ambiguous_in(std::string_view source) {
  if (source.find('\0') != std::string_view::npos) return "a byte of zero";
  for (std::size_t at = 0; (at = source.find('\r', at)) != std::string_view::npos; ++at) {
    if (at + 1 == source.size() || source[at + 1] != '\n') return "a carriage return that does not end a line";
  }
  for (const char last : {'/', '='}) {
    const std::string trigraph = std::string(2, '?') + last;
    if (source.find(trigraph) != std::string_view::npos) return "the trigraph " + trigraph;
  }
  return std::nullopt;
}

/// Where the text goes on behind a backslash and the end of its line; nothing when this is no such backslash.
std::optional<std::size_t> behind_splice(std::string_view source, std::size_t backslash) {
  std::size_t at = backslash + 1;
  while (at < source.size() && k_blanks.find(source[at]) != std::string_view::npos) ++at;
  if (at < source.size() && source[at] == '\r') ++at;
  return at < source.size() && source[at] == '\n' ? std::optional(at + 1) : std::nullopt;
}

std::string spliced(std::string_view source) {
  std::string text;
  for (std::size_t i = 0; i < source.size();) {
    const auto behind = source[i] == '\\' ? behind_splice(source, i) : std::nullopt;
    if (behind) {
      i = *behind;
    } else {
      if (source[i] != '\r') text += source[i];
      ++i;
    }
  }
  return text;
}

/// Reads spliced text once, from its beginning to its end.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  SourceLines read() {
    while (at_ < text_.size() && !result_.ambiguous) step();
    result_.lines.push_back(std::move(line_));
    return std::move(result_);
  }

 private:
  void step() {
    const char c = text_[at_];
    if (c == '\n') {
      result_.lines.push_back(std::move(line_));
      line_.clear();
      ++at_;
    } else if (text_.compare(at_, 2, "//") == 0) {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (text_.compare(at_, 2, "/*") == 0) {
      skip_comment();
    } else if (in_identifier(c)) {
      read_word();
    } else if (c == '"' || c == '\'') {
      read_quoted();
    } else {
      line_ += k_blanks.find(c) == std::string_view::npos ? c : ' ';
      ++at_;
    }
  }

  void skip_comment() {
    const std::size_t end = text_.find("*/", at_ + 2);
    if (end == std::string_view::npos) result_.ambiguous = "a comment that does not end";
    at_ = end == std::string_view::npos ? text_.size() : end + 2;
    line_ += ' ';
  }

  /// An identifier, or a number with the marks that separate its digits.
  void read_word() {
    const std::size_t begin = at_;
    const bool number = is_digit(text_[at_]);
    const auto belongs = [&](std::size_t at) {
      if (at >= text_.size()) return false;
      if (in_identifier(text_[at])) return true;
      return number && text_[at] == '\'' && at + 1 < text_.size() && in_identifier(text_[at + 1]);
    };
    while (belongs(at_)) ++at_;
    const std::string_view word = text_.substr(begin, at_ - begin);
    if (word.ends_with('R') && at_ < text_.size() && text_[at_] == '"') result_.ambiguous = "a raw string";
    line_ += word;
  }

  void read_quoted() {
    const std::size_t begin = at_;
    const char quote = text_[at_++];
    while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n') at_ += text_[at_] == '\\' ? 2 : 1;
    if (at_ >= text_.size() || text_[at_] != quote) {
      result_.ambiguous = "a quotation mark that is not closed on its line";
      return;
    }
    ++at_;
    line_ += text_.substr(begin, at_ - begin);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string line_;
  SourceLines result_;
};

}  // namespace

SourceLines source_lines(std::string_view source) {
  if (auto ambiguous = ambiguous_in(source)) return {{}, std::move(ambiguous)};
  const std::string text = spliced(source);
  return Reader(text).read();
}

std::optional<Directive> directive_of(std::string_view line) {
  line = trimmed(line);
  const std::size_t mark = line.starts_with('#') ? 1 : line.starts_with("%:") ? 2 : 0;
  if (mark == 0) return std::nullopt;
  line = trimmed(line.substr(mark));
  const auto end = std::find_if_not(line.begin(), line.end(), in_identifier);
  const auto length = static_cast<std::size_t>(end - line.begin());
  return Directive{line.substr(0, length), trimmed(line.substr(length))};
}

std::vector<std::string_view> identifiers_in(std::string_view text) {
  std::vector<std::string_view> found;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && in_identifier(text[end])) ++end;
    if (end > i && !is_digit(text[i])) found.push_back(text.substr(i, end - i));
    i = std::max(end, i + 1);
  }
  return found;
}

}  // namespace kw

#include "python/unclosed.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "python/errors.hpp"

namespace kw {
namespace {

class ClosureScan {
 public:
  explicit ClosureScan(std::string_view text) : text_(text) {}

  std::optional<Error> run() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#') {
        while (at_ < text_.size() && text_[at_] != '\n') step();
      } else if (c == '"' || c == '\'') {
        const auto where = place_;
        if (!string(c)) return Error{errc::mod_syntax, "this string is never closed", {}, where};
      } else {
        if (c == '(' || c == '[' || c == '{') open_.push_back({c, place_});
        if ((c == ')' || c == ']' || c == '}') && !open_.empty()) open_.pop_back();
        step();
        if (c == '\\' && at_ < text_.size()) step();
      }
    }
    if (open_.empty()) return std::nullopt;
    const auto& [bracket, where] = open_.back();
    return Error{errc::mod_syntax, fmt::format("'{}' is never closed", bracket), {}, where};
  }

 private:
  void step() {
    const char c = text_[at_++];
    if (c == '\n') {
      ++place_.line;
      place_.column = 1;
    } else if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U) {  // a column is a code point, not a byte
      ++place_.column;
    }
  }

  /// False when the text ends first.
  bool string(char quote) {
    const auto opening = text_.substr(at_, 3);
    const bool triple = opening.size() == 3 && opening[1] == quote && opening[2] == quote;
    const int width = triple ? 3 : 1;
    for (int i = 0; i < width; ++i) step();
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n' && !triple) return true;
      const bool closes = c == quote && (!triple || text_.substr(at_, 3) == opening);
      for (int i = 0; i < (closes ? width : 1); ++i) step();
      if (closes) return true;
      if (c == '\\' && at_ < text_.size()) step();
    }
    return !triple;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  SourcePlace place_{"", 1, 1};
  std::vector<std::pair<char, SourcePlace>> open_;
};

}  // namespace

std::optional<Error> unclosed_python(std::string_view text) {
  return ClosureScan(text).run();
}

}  // namespace kw

#include "python/lexer.hpp"

#include <array>
#include <charconv>
#include <cstddef>
#include <utility>

#include "python/errors.hpp"

namespace kw {
namespace {

constexpr int k_max_indent_levels = 100;
constexpr int k_tab_width = 8;
// Longest first, so that "**=" is not read as "**" and "=".
constexpr std::array<std::string_view, 48> k_symbols = {
    "**=", "//=", "<<=", ">>=", "...", "**", "//", "<<", ">>", "<=", ">=", "==", "!=", "->", ":=", "+=",
    "-=",  "*=",  "/=",  "%=",  "&=",  "|=", "^=", "@=", "+",  "-",  "*",  "/",  "%",  "@",  "&",  "|",
    "^",   "~",   "<",   ">",   "(",   ")",  "[",  "]",  "{",  "}",  ",",  ":",  ".",  ";",  "=",  "!"};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_name_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_name_part(char c) {
  return is_name_start(c) || is_digit(c);
}

bool is_string_prefix(std::string_view word) {
  return word.size() <= 2 && word.find_first_not_of("fFrRbBuU") == std::string_view::npos;
}

class Lexer {
 public:
  Lexer(std::string_view text, SourcePlace start)
      : text_(text), file_(std::move(start.file)), line_(start.line), column_(start.column) {}

  Result<std::vector<PyToken>> run() {
    while (!at_end()) {
      if (at_line_start_ && brackets_.empty()) {
        KW_TRY_VOID(indentation());
        if (at_end()) break;
      }
      KW_TRY_VOID(token());
    }
    if (!brackets_.empty()) {
      return error(errc::mod_syntax, brackets_.back().where,
                   fmt::format("'{}' is never closed", brackets_.back().symbol));
    }
    if (!tokens_.empty() && tokens_.back().kind != PyTokenKind::newline) push(PyTokenKind::newline, place());
    for (; indents_.size() > 1; indents_.pop_back()) push(PyTokenKind::dedent, place());
    push(PyTokenKind::end, place());
    return std::move(tokens_);
  }

 private:
  struct Bracket {
    char symbol;
    SourcePlace where;
  };

  [[nodiscard]] bool at_end() const { return at_ >= text_.size(); }
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  [[nodiscard]] SourcePlace place() const { return {file_, line_, column_}; }
  void advance() {
    const char c = text_[at_++];
    if (c == '\n') {
      ++line_;
      column_ = 1;
    } else if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U) {  // a column is a code point, not a byte
      ++column_;
    }
  }
  void advance(std::size_t count) {
    while (count-- > 0) advance();
  }
  PyToken& push(PyTokenKind kind, SourcePlace where, std::string text = {}) {
    tokens_.push_back({kind, std::move(text), false, 0, 0.0, std::move(where)});
    return tokens_.back();
  }
  [[nodiscard]] static tl::unexpected<Error> error(ErrorCode code, SourcePlace where, std::string message,
                                                   std::string hint = {}) {
    return fail(Error{code, std::move(message), std::move(hint), std::move(where)});
  }

  /// Measures the indentation of a line that holds code and turns its change into tokens; skips blank lines.
  Result<void> indentation() {
    int width = 0;
    while (true) {
      if (peek() == ' ') {
        ++width;
      } else if (peek() == '\t') {
        width = (width / k_tab_width + 1) * k_tab_width;
      } else if (peek() == '\n') {
        width = -1;
      } else if (peek() == '#') {
        skip_comment();
        continue;
      } else if (peek() != '\f' && peek() != '\r') {
        break;
      }
      advance();
      if (width < 0) width = 0;
      if (at_end()) return {};
    }
    if (at_end()) return {};
    at_line_start_ = false;
    if (indents_.empty()) indents_.push_back(width);
    if (width > indents_.back()) {
      if (indents_.size() >= k_max_indent_levels) {
        return error(errc::mod_limit, place(), "more than 100 levels of indentation");
      }
      indents_.push_back(width);
      push(PyTokenKind::indent, place());
    }
    while (indents_.size() > 1 && width < indents_.back()) {
      indents_.pop_back();
      push(PyTokenKind::dedent, place());
    }
    if (width != indents_.back()) {
      return error(errc::mod_syntax, place(), "this line's indentation matches no line above it",
                   "indent it like the statement it follows");
    }
    return {};
  }

  void skip_comment() {
    while (!at_end() && peek() != '\n') advance();
  }

  Result<void> token() {
    const char c = peek();
    if (c == '\n') {
      if (brackets_.empty()) {
        push(PyTokenKind::newline, place());
        at_line_start_ = true;
      }
      advance();
      return {};
    }
    if (c == ' ' || c == '\t' || c == '\r' || c == '\f') {
      advance();
      return {};
    }
    if (c == '#') {
      skip_comment();
      return {};
    }
    if (c == '\\') return continuation();
    if (is_digit(c) || (c == '.' && is_digit(peek(1)))) return number();
    if (c == '"' || c == '\'') return string();
    if (is_name_start(c)) return name();
    return symbol();
  }

  Result<void> continuation() {
    const auto where = place();
    advance();
    if (peek() == '\r') advance();
    if (peek() != '\n') return error(errc::mod_syntax, where, "a backslash must be the last character of its line");
    advance();
    return {};
  }

  Result<void> name() {
    const auto where = place();
    const std::size_t begin = at_;
    while (is_name_part(peek())) advance();
    const auto word = text_.substr(begin, at_ - begin);
    if ((peek() == '"' || peek() == '\'') && is_string_prefix(word)) {
      KW_TRY_VOID(string());
      tokens_.back().formatted = word.find_first_of("fF") != std::string_view::npos;
      return {};
    }
    push(PyTokenKind::name, where, std::string(word));
    return {};
  }

  Result<void> string() {
    const auto where = place();
    const char quote = peek();
    const bool triple = peek(1) == quote && peek(2) == quote;
    const std::size_t width = triple ? 3 : 1;
    advance(width);
    const std::size_t begin = at_;
    while (!at_end()) {
      const bool closes = peek() == quote && (!triple || (peek(1) == quote && peek(2) == quote));
      if (closes) {
        push(PyTokenKind::text, where, std::string(text_.substr(begin, at_ - begin)));
        advance(width);
        return {};
      }
      if (!triple && peek() == '\n') break;
      if (peek() == '\\' && at_ + 1 < text_.size()) advance();
      advance();
    }
    return error(errc::mod_syntax, where, "this string is never closed");
  }

  Result<void> number() {
    const auto where = place();
    const std::size_t begin = at_;
    const bool prefixed = peek() == '0' && (peek(1) == 'x' || peek(1) == 'X' || peek(1) == 'b' || peek(1) == 'B' ||
                                            peek(1) == 'o' || peek(1) == 'O');
    bool real = false;
    if (prefixed) advance(2);
    while (!at_end()) {
      const char c = peek();
      const bool exponent = !prefixed && (c == 'e' || c == 'E');
      if (exponent && (peek(1) == '+' || peek(1) == '-')) advance();
      if (!is_name_part(c) && !(c == '.' && !prefixed)) break;
      real = real || exponent || c == '.';
      advance();
    }
    std::string digits;
    for (const char c : text_.substr(begin, at_ - begin)) {
      if (c != '_') digits += c;
    }
    return real ? real_number(digits, where) : integer_number(digits, prefixed, where);
  }

  Result<void> integer_number(std::string_view digits, bool prefixed, const SourcePlace& where) {
    int base = 10;
    if (prefixed) {
      base = digits[1] == 'x' || digits[1] == 'X' ? 16 : digits[1] == 'b' || digits[1] == 'B' ? 2 : 8;
    }
    const auto body = digits.substr(prefixed ? 2 : 0);
    std::int64_t value = 0;
    const auto [end, status] = std::from_chars(body.data(), body.data() + body.size(), value, base);
    if (status == std::errc::result_out_of_range) {
      return error(errc::mod_limit, where, fmt::format("the integer {} does not fit 64 bits", digits));
    }
    const bool leading_zero = base == 10 && body.size() > 1 && body[0] == '0' && value != 0;
    if (status != std::errc() || end != body.data() + body.size() || leading_zero) {
      return error(errc::mod_syntax, where, fmt::format("'{}' is not a number", digits));
    }
    push(PyTokenKind::integer, where).integer = value;
    return {};
  }

  Result<void> real_number(std::string_view digits, const SourcePlace& where) {
    double value = 0.0;
    const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (status == std::errc::result_out_of_range) {
      return error(errc::mod_limit, where, fmt::format("the number {} does not fit a double", digits),
                   "write float(\"inf\") for infinity");
    }
    if (status != std::errc() || end != digits.data() + digits.size()) {
      return error(errc::mod_syntax, where, fmt::format("'{}' is not a number", digits));
    }
    push(PyTokenKind::real, where).real = value;
    return {};
  }

  Result<void> symbol() {
    const auto where = place();
    for (const auto symbol : k_symbols) {
      if (text_.substr(at_, symbol.size()) != symbol) continue;
      KW_TRY_VOID(track_bracket(symbol, where));
      push(PyTokenKind::symbol, where, std::string(symbol));
      advance(symbol.size());
      return {};
    }
    const auto byte = static_cast<unsigned char>(peek());
    if (byte >= 0x80U) return error(errc::mod_syntax, where, "only ASCII characters may stand outside of comments");
    return byte >= 0x20U && byte < 0x7FU
               ? error(errc::mod_syntax, where, fmt::format("'{}' means nothing in Python", peek()))
               : error(errc::mod_syntax, where, fmt::format("a control character (code {})", byte));
  }

  Result<void> track_bracket(std::string_view symbol, const SourcePlace& where) {
    if (symbol == "(" || symbol == "[" || symbol == "{") {
      brackets_.push_back({symbol[0], where});
    } else if (symbol == ")" || symbol == "]" || symbol == "}") {
      const char opening = symbol == ")" ? '(' : symbol == "]" ? '[' : '{';
      if (brackets_.empty() || brackets_.back().symbol != opening) {
        return error(errc::mod_syntax, where, fmt::format("'{}' closes nothing", symbol));
      }
      brackets_.pop_back();
    }
    return {};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string file_;
  int line_;
  int column_;
  bool at_line_start_ = true;
  std::vector<int> indents_;
  std::vector<Bracket> brackets_;
  std::vector<PyToken> tokens_;
};

}  // namespace

Result<std::vector<PyToken>> tokenize_python(std::string_view text, const SourcePlace& start) {
  return Lexer(text, start).run();
}

}  // namespace kw

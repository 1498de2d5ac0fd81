#include "device/sim/candidate_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <span>
#include <utility>

namespace kw::sim {
namespace {

using Names = std::span<const std::string_view>;

constexpr auto k_pragmas = std::to_array<std::string_view>({"unroll", "nounroll", "once", "clang loop"});
/// Of GCC's form. The section is the one that __global__ stands for, and decides nothing else.
constexpr auto k_attributes =
    std::to_array<std::string_view>({"used", "unused", "noinline", "always_inline", "aligned", "packed", "may_alias",
                                     "visibility", "section", "__aligned__", "__packed__", "__may_alias__"});
constexpr auto k_standard_attributes = std::to_array<std::string_view>(
    {"maybe_unused", "nodiscard", "likely", "unlikely", "fallthrough", "noreturn", "deprecated"});
constexpr auto k_builtins = std::to_array<std::string_view>(
    {"__builtin_bit_cast", "__builtin_expect", "__builtin_assume_aligned", "__builtin_popcount", "__builtin_popcountll",
     "__builtin_clz", "__builtin_clzll", "__builtin_ctz", "__builtin_ctzll", "__builtin_ffs", "__builtin_ffsll",
     "__builtin_inff", "__builtin_huge_valf", "__builtin_nanf", "__builtin_fabsf", "__builtin_fmaf", "__builtin_sqrtf",
     "__builtin_fmaxf", "__builtin_fminf"});
/// What the simulator's macros, such as memcpy and threadIdx, leave of its own names.
constexpr auto k_left_by_macros = std::to_array<std::string_view>(
    {"kw_sim_copy", "kw_sim_fill", "kw_sim_stop", "kw_sim_barrier", "kw_sim_uint3", "kw_sim_thread_index",
     "kw_sim_block_index", "kw_sim_block_size", "kw_sim_grid_size"});
/// Of functions that access memory without a call in front, and of the instrumentation's own.
constexpr auto k_forbidden_beginnings = std::to_array<std::string_view>(
    {"__builtin_", "__atomic_", "__sync_", "__tsan", "__ubsan", "__asan", "__sanitizer", "_ITM", "__cxa", "__gxx"});

bool contains(Names names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

bool is_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// One piece of preprocessed C++. Such text has no comments, and directives stand on lines of their own.
struct Token {
  enum class Kind { end, name, string, directive, other } kind = Kind::end;
  std::string_view text = {};
};

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  Token next() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) {
      line_is_empty_ = line_is_empty_ || text_[at_] == '\n';
      ++at_;
    }
    if (at_ == text_.size()) return {};
    const bool first = std::exchange(line_is_empty_, false);
    const char c = text_[at_];
    if (c == '#' && first) return take(Token::Kind::directive, text_.find('\n', at_));
    if (std::isdigit(static_cast<unsigned char>(c)) != 0) return number();
    if (is_name(c)) return take(Token::Kind::name, end_of_name(at_));
    if (c == '"' || c == '\'') return take(Token::Kind::string, end_of_string());
    return take(Token::Kind::other, at_ + 1);
  }

 private:
  Token take(Token::Kind kind, std::size_t end) {
    const std::size_t begin = std::exchange(at_, std::min(end, text_.size()));
    return {kind, text_.substr(begin, at_ - begin)};
  }
  [[nodiscard]] std::size_t end_of_name(std::size_t at) const {
    while (at < text_.size() && is_name(text_[at])) ++at;
    return at;
  }
  /// With its suffix; ' stands between digits, and a sign behind an exponent ends it, which does no harm here.
  Token number() {
    std::size_t end = at_;
    while (end < text_.size() && (is_name(text_[end]) || text_[end] == '.' || text_[end] == '\'')) ++end;
    return take(Token::Kind::other, end);
  }
  [[nodiscard]] std::size_t end_of_string() const {
    std::size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != text_[at_]) end += text_[end] == '\\' ? 2 : 1;
    return end + 1;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool line_is_empty_ = true;  ///< so far
};

using Forbidden = std::optional<std::string>;

Forbidden in_directive(std::string_view line) {
  constexpr std::string_view k_pragma = "#pragma";
  if (!line.starts_with(k_pragma)) return std::nullopt;  // where the next line comes from
  std::string_view rest = line.substr(k_pragma.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
  const bool known = std::ranges::any_of(k_pragmas, [&](std::string_view pragma) {
    return rest.starts_with(pragma) && (rest.size() == pragma.size() || !is_name(rest[pragma.size()]));
  });
  constexpr std::size_t k_most = 60;
  return known ? Forbidden{} : fmt::format("#pragma {}", rest.substr(0, k_most));
}

Forbidden in_name(std::string_view name) {
  if (name.find("kw_sim") != std::string_view::npos) {
    const bool building_block = name.starts_with("__kw_sim_");
    return building_block || contains(k_left_by_macros, name) ? Forbidden{} : std::string(name);
  }
  // The compiler does not know AMD's, and says so with what to write instead.
  if (name.starts_with("__builtin_amdgcn")) return std::nullopt;
  const bool reserved =
      std::ranges::any_of(k_forbidden_beginnings, [&](auto begin) { return name.starts_with(begin); });
  return reserved && !contains(k_builtins, name) ? Forbidden{std::string(name)} : Forbidden{};
}

/// Behind "__attribute__": the names between its second parentheses, and what they are given.
Forbidden in_attribute(Scanner& scanner) {
  int depth = 0;
  std::string_view name;
  do {
    const Token token = scanner.next();
    if (token.kind == Token::Kind::end) return "an attribute without an end";
    if (token.text == "(") ++depth;
    if (token.text == ")") --depth;
    if (depth == 2 && token.kind == Token::Kind::name) {
      name = token.text;
      if (!contains(k_attributes, name)) return fmt::format("__attribute__(({}))", name);
    }
    const bool section = name == "section" && depth == 3 && token.text != "(";
    if (section && token.text != "\".text.kw_kernel\"") return fmt::format("section({})", token.text);
  } while (depth > 0);
  return std::nullopt;
}

/// Behind "[[".
Forbidden in_standard_attribute(Scanner& scanner) {
  int depth = 2;
  while (depth > 0) {
    const Token token = scanner.next();
    if (token.kind == Token::Kind::end) return "an attribute without an end";
    if (token.text == "[") ++depth;
    if (token.text == "]") --depth;
    if (token.kind == Token::Kind::name && !contains(k_standard_attributes, token.text)) {
      return fmt::format("[[{}]]", token.text);
    }
  }
  return std::nullopt;
}

/// The simulator's own name space is entered by __syncthreads() alone, for one type.
Forbidden in_name_space(Scanner& scanner) {
  const bool known = scanner.next().text == ":" && scanner.next().text == ":" && scanner.next().text == "BarrierOp";
  return known ? Forbidden{} : "kw_sim";
}

/// Within it quotes and backslashes mean nothing, so the pieces behind it would be read wrongly.
bool begins_raw_string(const Token& prefix, const Token& string) {
  return string.text.starts_with('"') && prefix.kind == Token::Kind::name && prefix.text.ends_with('R') &&
         prefix.text.data() + prefix.text.size() == string.text.data();
}

Forbidden in_token(const Token& token, Scanner& scanner) {
  if (token.kind == Token::Kind::directive) return in_directive(token.text);
  if (token.kind != Token::Kind::name) return std::nullopt;
  if (token.text == "__attribute__" || token.text == "__attribute") return in_attribute(scanner);
  return token.text == "kw_sim" ? in_name_space(scanner) : in_name(token.text);
}

Forbidden first_forbidden(std::string_view text) {
  Scanner scanner(text);
  Token last;
  for (Token token = scanner.next(); token.kind != Token::Kind::end; token = scanner.next()) {
    if (begins_raw_string(last, token)) return "a raw string";
    const bool attribute = token.text == "[" && last.text == "[";
    if (auto found = attribute ? in_standard_attribute(scanner) : in_token(token, scanner)) return found;
    last = attribute ? Token{} : token;
  }
  return std::nullopt;
}

}  // namespace

Forbidden forbidden_in_candidate(std::string_view preprocessed) {
  const std::size_t begin = preprocessed.find(k_candidate_begins);
  const std::size_t end = preprocessed.rfind(k_candidate_ends);
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) return "no candidate";
  const std::size_t first = begin + k_candidate_begins.size();
  return first_forbidden(preprocessed.substr(first, end - first));
}

}  // namespace kw::sim

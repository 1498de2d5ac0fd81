#include "device/cuda/ptx_statements.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace kw::cuda {
namespace {

/// Directives that end where the next one, or an instruction, begins.
constexpr std::array<std::string_view, 5> k_without_end = {".version", ".target", ".address_size", ".file", ".loc"};

bool in_ptx_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%' || c == '.';
}

/// Where what begins at `at` ends, if it is a comment or white space; `at` otherwise. npos: it never ends.
std::size_t skip_blank(std::string_view text, std::size_t at) {
  if (std::isspace(static_cast<unsigned char>(text[at])) != 0) return at + 1;
  if (text.substr(at, 2) == "//") return std::min(text.find('\n', at), text.size());
  if (text.substr(at, 2) != "/*") return at;
  const std::size_t end = text.find("*/", at + 2);
  return end == std::string_view::npos ? end : end + 2;
}

class PtxReader {
 public:
  explicit PtxReader(std::string_view text) : text_(text) {}

  PtxText read() && {
    for (std::size_t at = 0; at < text_.size() && !result_.unclear;) at = step(at);
    end_statement();
    return std::move(result_);
  }

 private:
  std::size_t stop(std::string why) {
    result_.unclear = std::move(why);
    return text_.size();
  }

  std::size_t step(std::size_t at) {
    if (const std::size_t next = skip_blank(text_, at); next == std::string_view::npos) {
      return stop("a comment that does not end");
    } else if (next != at) {
      return next;
    }
    if (text_[at] == '"') return string(at);
    // The language has directives of a preprocessor, of which assemblers know some.
    if (text_[at] == '#' || text_[at] == '\\') return stop("'" + std::string(1, text_[at]) + "'");
    if (in_ptx_name(text_[at])) return name(at);
    return punctuation(at);
  }

  std::size_t punctuation(std::size_t at) {
    const char c = text_[at];
    const bool directive = !statement_.empty() && statement_.front().starts_with('.');
    const bool initialises = std::ranges::find(statement_, "=") != statement_.end();
    if (c == ';' || (c == '{' && (statement_.empty() || (directive && !initialises)))) {
      end_statement();  // a scope or a function begins
    } else if (c == '}' && braces_ == 0) {
      end_statement();
    } else if (c == ':' && statement_.size() == 1) {
      statement_.clear();  // a label
    } else {
      if (c == '{') ++braces_;
      if (c == '}') --braces_;
      statement_.push_back(text_.substr(at, 1));
    }
    return at + 1;
  }

  /// Strings name files and pragmas, and their text is nobody's.
  std::size_t string(std::size_t at) {
    const std::size_t end = text_.find('"', at + 1);
    const std::string_view inside = text_.substr(at, end - at);
    if (end == std::string_view::npos || inside.find_first_of("\\\n") != std::string_view::npos) {
      return stop("a string that ends elsewhere for others");
    }
    statement_.push_back("\"\"");
    return end + 1;
  }

  /// "L2::evict_last" and what stands around it is one name.
  std::size_t name(std::size_t at) {
    std::size_t end = at;
    while (end < text_.size() && (in_ptx_name(text_[end]) || (text_.substr(end, 2) == "::"))) {
      end += text_[end] == ':' ? 2 : 1;
    }
    const std::string_view token = text_.substr(at, end - at);
    if (follows_a_line(token)) end_statement();
    statement_.push_back(token);
    return end;
  }

  /// Whether the token is no more of a directive that has no ';': its arguments are numbers, one name, and what stands
  /// behind a comma.
  [[nodiscard]] bool follows_a_line(std::string_view token) const {
    if (statement_.size() < 2 || std::isdigit(static_cast<unsigned char>(token.front())) != 0) return false;
    if (std::ranges::find(k_without_end, statement_.front()) == k_without_end.end()) return false;
    return statement_.back() != "," && statement_.back() != "function_name";
  }

  void end_statement() {
    if (!statement_.empty()) result_.statements.push_back(std::move(statement_));
    statement_.clear();
    braces_ = 0;
  }

  std::string_view text_;
  PtxText result_;
  PtxStatement statement_;
  int braces_ = 0;  ///< open in the statement
};

}  // namespace

PtxText read_ptx(std::string_view ptx) {
  return PtxReader(ptx).read();
}

}  // namespace kw::cuda

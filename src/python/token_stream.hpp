#pragma once
// The cursor that the expression and the statement parser share, and the one place that bounds their recursion.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "python/errors.hpp"
#include "python/lexer.hpp"

namespace kw {

/// Which part of Python a text may use.
enum class PyDialect : std::uint8_t {
  mod,     ///< the function that FlexAttention takes
  module,  ///< a file with classes: also while, with, dictionaries, chained comparisons, matrix products
};

class PyTokenStream {
 public:
  static constexpr int k_max_depth = 200;
  /// A level of Python's nesting takes up to two of the parser's.
  static constexpr int k_max_recursion = 2 * k_max_depth;

  /// `tokens` ends with an `end` token.
  explicit PyTokenStream(std::vector<PyToken> tokens, PyDialect dialect = PyDialect::mod)
      : tokens_(std::move(tokens)), dialect_(dialect) {}

  [[nodiscard]] bool of_module() const { return dialect_ == PyDialect::module; }

  [[nodiscard]] const PyToken& peek(std::size_t ahead = 0) const {
    return tokens_[at_ + ahead < tokens_.size() ? at_ + ahead : tokens_.size() - 1];
  }
  /// The current token; the final `end` is never passed.
  const PyToken& take() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }
  [[nodiscard]] bool at(PyTokenKind kind) const { return peek().kind == kind; }
  [[nodiscard]] bool at_symbol(std::string_view symbol) const {
    return peek().kind == PyTokenKind::symbol && peek().text == symbol;
  }
  [[nodiscard]] bool at_word(std::string_view word) const {
    return peek().kind == PyTokenKind::name && peek().text == word;
  }
  bool accept_symbol(std::string_view symbol) {
    if (!at_symbol(symbol)) return false;
    take();
    return true;
  }
  bool accept_word(std::string_view word) {
    if (!at_word(word)) return false;
    take();
    return true;
  }
  Result<void> expect_symbol(std::string_view symbol, std::string_view after) {
    if (accept_symbol(symbol)) return {};
    return unexpected(fmt::format("expected '{}' after {}", symbol, after));
  }
  /// An error at the current token that also says what stands there.
  [[nodiscard]] tl::unexpected<Error> unexpected(const std::string& wanted) const {
    return fail(Error{errc::mod_syntax, wanted + ", but found " + describe(peek()), {}, peek().where});
  }
  [[nodiscard]] static tl::unexpected<Error> unsupported(const SourcePlace& where, std::string message,
                                                         std::string hint) {
    return fail(Error{errc::mod_unsupported, std::move(message), std::move(hint), where});
  }

  /// Holds one level of nesting while it lives.
  class Level {
   public:
    explicit Level(PyTokenStream& stream) : stream_(stream) { ++stream_.depth_; }
    ~Level() { --stream_.depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    [[nodiscard]] Result<void> check() const {
      if (stream_.depth_ <= k_max_recursion) return {};
      return too_deep(stream_.peek().where);
    }

   private:
    PyTokenStream& stream_;
  };
  [[nodiscard]] static tl::unexpected<Error> too_deep(const SourcePlace& where) {
    return fail(Error{errc::mod_limit, fmt::format("more than {} levels of nesting", k_max_depth),
                      "give parts of the expression a name first", where});
  }

 private:
  [[nodiscard]] static std::string describe(const PyToken& token) {
    switch (token.kind) {
      case PyTokenKind::newline:
        return "the end of the line";
      case PyTokenKind::indent:
        return "more indentation";
      case PyTokenKind::dedent:
        return "less indentation";
      case PyTokenKind::end:
        return "the end of the text";
      case PyTokenKind::text:
        return "a string";
      case PyTokenKind::integer:
      case PyTokenKind::real:
        return "a number";
      case PyTokenKind::name:
      case PyTokenKind::symbol:
        break;
    }
    return "'" + token.text + "'";
  }

  std::vector<PyToken> tokens_;
  PyDialect dialect_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace kw

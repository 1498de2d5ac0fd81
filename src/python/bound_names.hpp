#pragma once
// Which names a statement binds, told from its tokens alone, so that it need not be a statement that mods may use.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "python/lexer.hpp"

namespace kw {

/// Tokens of one simple statement or of the head of a compound one.
using PyTokens = std::span<const PyToken>;

[[nodiscard]] bool is_symbol(const PyToken& token, std::string_view symbol);
[[nodiscard]] bool is_word(const PyToken& token, std::string_view word);
/// "=", "+=" and the like; not a comparison and not ":=".
[[nodiscard]] bool is_assignment(const PyToken& token);
/// The first token at or after `from` that is `symbol` outside of brackets and lambdas; tokens.size() when there is
/// none.
[[nodiscard]] std::size_t find_outside(PyTokens tokens, std::string_view symbol, std::size_t from = 0);

/// The plain names of a target: a and b of "a, (*b, c[i], d.e)".
[[nodiscard]] std::vector<std::string> target_names(PyTokens tokens);
/// On the left of every "=" outside of brackets.
[[nodiscard]] std::vector<std::string> assigned_names(PyTokens tokens);
/// Of "name := value".
[[nodiscard]] std::vector<std::string> walrus_names(PyTokens tokens);
/// Of "with a as name, b as (c, d)" and "except E as name".
[[nodiscard]] std::vector<std::string> names_after_as(PyTokens tokens);

}  // namespace kw

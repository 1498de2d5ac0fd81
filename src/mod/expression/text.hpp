#pragma once
// A mod's expression as Python text, for people: what `explain` shows of a traced mod.

#include <string>

#include "mod/expression/expr.hpp"

namespace kw {

/// The node with everything it is made of, in FlexAttention's notation; brackets only where Python needs them. Cut with
/// "..." when longer than `limit` characters.
[[nodiscard]] std::string to_python(const ModFunction& mod, ExprId node, std::size_t limit = 100);

}  // namespace kw

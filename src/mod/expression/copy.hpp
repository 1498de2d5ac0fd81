#pragma once
// Copies of expressions from one function into another, with some nodes replaced: how analyses ask what a mod would be
// if a condition held or the key were another index.

#include <map>

#include "mod/expression/expr_builder.hpp"

namespace kw {

/// Copies what `root` of `from` needs and returns the copy's root. A node that `instead` names is not copied: its users
/// get the node of the builder's function that stands there, of the same type. Constants are folded on the way, and
/// comparisons of an integer with itself. `from` must not be the builder's own function.
ExprId copied(const ModFunction& from, ExprId root, ExprBuilder& to, const std::map<ExprId, ExprId>& instead = {});

}  // namespace kw

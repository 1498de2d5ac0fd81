#pragma once
// A mod's expression in a normal form, for hashing: problems are identified by it.

#include <string>

#include "mod/expression/expr.hpp"

namespace kw {

/// One line per node. Operations and types are written as their numbers, which are therefore frozen.
[[nodiscard]] std::string canonical_mod(const ModFunction& mod);

}  // namespace kw

#pragma once
// Puts a mod from a Python file in the place of a problem's own.

#include <string>
#include <string_view>

#include "spec/problem.hpp"

namespace kw {

/// `wanted` as in parse_mod_file; its parameters say whether it becomes the score_mod or the mask_mod, the problem's
/// other mod stays. The name gets the function's appended, "attention/full.causal", so that archives tell them apart.
/// `file` only labels errors. errc::problem_unknown_op for an operator that takes no mods.
[[nodiscard]] Result<Problem> with_mod(Problem problem, std::string_view module_text, const std::string& file,
                                       std::string_view wanted);

}  // namespace kw

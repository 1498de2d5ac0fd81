#pragma once
// Puts a mod from a Python file in the place of a problem's own.

#include <string>
#include <string_view>

#include "mod/frontend/file.hpp"
#include "problem/operator.hpp"
#include "problem/problem.hpp"

namespace kw {

/// `wanted` as in parse_mod_file; the operator says what the function becomes. The name gets the function's appended,
/// "attention/full.causal", so that archives tell them apart. What the text imports is looked for with `files` beside
/// `file`, which otherwise only labels errors. errc::problem_unknown_op for an operator that takes no mods.
[[nodiscard]] Result<Problem> with_mod(Problem problem, std::string_view module_text, const std::string& file,
                                       std::string_view wanted, const FileSystem* files = nullptr);

// For operators, as OperatorFormat::with_mod.

/// Of those that take none.
[[nodiscard]] Result<Problem> refuse_mod(Problem problem, const ModText& mod);
/// As OperatorFormat::from_module, of those that compute no modules.
[[nodiscard]] Result<std::string> refuse_module(const PyTorchModule& module);
/// Of those that take mods: the function, read in the problem's scope, and `name` as the problem is then called.
struct NamedMod {
  FileMod mod;
  std::string name;
};
[[nodiscard]] Result<NamedMod> read_mod_file(const Problem& problem, const ModText& mod);

}  // namespace kw

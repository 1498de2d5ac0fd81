#pragma once
// Takes one mod out of a whole Python file, such as the one a model's attention is defined in. Classes, tests, training
// loops and imports may stand in it: only what the wanted function reaches is parsed. Never executes anything.

#include <string_view>

#include "base/result.hpp"
#include "mod/expression/expr.hpp"
#include "mod/frontend/module_files.hpp"
#include "mod/frontend/parser.hpp"

namespace kw {

struct FileMod {
  ModRole role = ModRole::mask_mod;  ///< by the number of parameters without a default value, as FlexAttention does
  ModFunction function;              ///< `source` holds the statements that were reached, in the order of the file
};

/// `wanted` is the name of a function, or an expression that makes one, such as "generate_sliding_window(256)" or
/// "or_masks(prefix, causal)". Where a name is defined more than once, the last definition before its use counts, as in
/// Python. Names of the problem win over assignments of the file: a file makes its tensors by running code, the problem
/// supplies them. Lines and columns of errors are the file's, also where `wanted` misuses a name of the file; what is
/// wrong with `wanted` itself has the place's file "the mod's name". At most 1 MiB of text, of which a mod may reach
/// 64 KiB. With `beside`, what the file imports is looked for there; places in such a file have its path.
[[nodiscard]] Result<FileMod> parse_mod_file(std::string_view bytes, std::string_view wanted, const ModScope& scope,
                                             ModuleFiles* beside = nullptr);

}  // namespace kw

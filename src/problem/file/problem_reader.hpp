#pragma once
// Reads tables of a configuration tree with errors that name the place, the key and the nearest known key. Used by the
// problem file's reader and by one reader per operator.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "problem/axes.hpp"
#include "problem/file/config_tree.hpp"
#include "problem/operator.hpp"
#include "problem/problem.hpp"

namespace kw {

/// errc::problem_unknown_key at the first key that is not in `known`; `what` names the table, such as "[axes]".
[[nodiscard]] Result<void> check_keys(const ConfigValue& table, std::string_view what,
                                      const std::vector<std::string>& known);
/// errc::problem_type unless the value has the wanted kind.
[[nodiscard]] Result<void> check_kind(const ConfigValue& value, std::string_view what, ConfigKind wanted);
/// The text under `key`; errc::problem_missing_key, with the example in the hint, when there is none.
[[nodiscard]] Result<std::string> required_text(const ConfigValue& table, std::string_view key,
                                                std::string_view example);
[[nodiscard]] Result<std::optional<std::string>> optional_text(const ConfigValue& table, std::string_view key);

/// An error inside the text of a value, such as a mod, moved to where the text stands in the file. One with a file of
/// its own stays where it is.
[[nodiscard]] Error placed_in_file(Error error, const ConfigValue& value);

/// What mods and formulas of the problem may refer to: its constants, axes and the captured tensors read so far.
[[nodiscard]] ModScope mod_scope(const Problem& problem);

}  // namespace kw

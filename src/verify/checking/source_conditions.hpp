#pragma once
// The names that decide which parts of a source are compiled. A simulator is another compiler than the device's: where
// a source asks for a macro that one of them has, the two see different kernels. So whatever a condition depends on,
// and the bundle does not define, is undefined for both (guarded_source in source_policy.hpp).

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace kw {

struct SourceConditions {
  /// All names that conditions depend on, also through macros that the source defines.
  std::set<std::string> names;
  /// What could hide a name. Words that follow "the source uses".
  std::optional<std::string> hidden;
};

/// `lines` as source_lines() gives them.
[[nodiscard]] SourceConditions conditions_in(const std::vector<std::string>& lines);

}  // namespace kw

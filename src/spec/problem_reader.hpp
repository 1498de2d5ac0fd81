#pragma once
// Reads tables of a configuration tree with errors that name the place, the key and the nearest known key. Used by the
// problem file's reader and by one reader per operator.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "spec/config_tree.hpp"
#include "spec/problem.hpp"

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

/// What an operator adds to a problem: its axes, its tensors and its own table.
struct OperatorFormat {
  std::string_view op;
  std::vector<std::string> axes;  ///< in the order that canonical text lists them
  /// Fills the axes of the primary that may be left out.
  void (*default_axes)(Axes& axes);
  /// Consistency of the axes with one another, such as Hkv dividing Hq. The error carries no place.
  Result<void> (*check_axes)(const Axes& axes);
  /// Reads the operator's table and sets detail, inputs (the operator's own) and outputs.
  Result<void> (*read)(const ConfigValue& root, Problem& problem);
  /// The operator's part of the canonical text.
  std::string (*canonical)(const Problem& problem);
  WorkloadCost (*cost)(const Problem& problem, const Workload& workload);
};
/// The one place that lists operators. Null when unknown.
[[nodiscard]] const OperatorFormat* find_operator(std::string_view op);
[[nodiscard]] std::vector<std::string> operator_names();

/// An error inside the text of a value, such as a mod, moved to where the text stands in the file.
[[nodiscard]] Error placed_in_file(Error error, const ConfigValue& value);

/// Within 1 to 2^24. The error carries no place.
[[nodiscard]] Result<void> check_extent(std::string_view axis, std::int64_t extent);
/// Every axis within 1 to 2^24, every tensor countable, captured tensors within their bound and fixed ones as long as
/// the axes, and the operator's own rules. The error carries no place.
[[nodiscard]] Result<void> check_axes(const OperatorFormat& format, const Problem& problem, const Axes& axes);

/// What mods and formulas of the problem may refer to: its constants, axes and the captured tensors read so far.
[[nodiscard]] ModScope mod_scope(const Problem& problem);

/// The operator's axes and the problem's own, in the order that canonical text lists them.
[[nodiscard]] std::vector<std::string> all_axes(const OperatorFormat& format, const Problem& problem);

/// The operators' entries, each in its own file.
[[nodiscard]] const OperatorFormat& attention_format();

/// A normal form of a mod as text: one line per node.
[[nodiscard]] std::string canonical_mod(const ModFunction& mod);

}  // namespace kw

#pragma once
// What several commands read the same way.

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/commands.hpp"
#include "problem/problem.hpp"
#include "record/bundle.hpp"
#include "sandbox/tier.hpp"
#include "tensor/int_expr.hpp"

namespace kw {

namespace errc {
inline constexpr ErrorCode command_line{"cli.usage"};
}  // namespace errc

/// Where problems are looked up by name: ./problems, then beside the executable (build tree or installation).
[[nodiscard]] std::vector<std::filesystem::path> problem_directories();

/// Loads a problem by path or name, or the module that it names, and applies --tensor, the --set assignments, then the
/// --mod replacements, each in order.
[[nodiscard]] Result<Problem> read_problem(const ProblemInput& input);

/// "NAME=VALUE" with an integer value, for `option` in messages.
[[nodiscard]] Result<IntBindings> read_assignments(const std::vector<std::string>& texts, const std::string& option);

/// Conditions of a dispatch row, from --when; errc::command_line when one is no expression.
[[nodiscard]] Result<std::vector<std::string>> read_conditions(const std::vector<std::string>& texts);

[[nodiscard]] Result<Bundle> read_bundle(const std::filesystem::path& path);

/// A bundle file with the --tune assignments, which win over its dispatch rows and defaults.
[[nodiscard]] Result<Candidate> read_candidate(const std::filesystem::path& bundle,
                                               const std::vector<std::string>& tune);

/// Writes `bundle` to `path` with `row` in its dispatch table; the header in its normal form, the source as it is. The
/// row's index. Nothing is written when the result would not be read again.
[[nodiscard]] Result<std::size_t> write_with_row(const Bundle& bundle, DispatchRow row,
                                                 const std::filesystem::path& path);

/// "none", "a", "b" or "c".
[[nodiscard]] Result<SandboxTier> read_tier(const std::string& text);

}  // namespace kw

#pragma once
// What a suite came to, as numbers: what its page, its terminal output and its JSON all print.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "suite/baseline_file.hpp"
#include "suite/statistics.hpp"
#include "suite/suite_state.hpp"

namespace kw {

/// Against one baseline. A problem that has a time of it and was not solved counts as not fast.
struct BaselineFigures {
  std::string name;
  std::int64_t problems = 0;               ///< compared: all for plain, otherwise those that the file has a time of
  std::int64_t smaller = 0;                ///< left out: they ran at other sizes than the file's time is of
  std::vector<double> fast;                ///< fast_p at k_fast_p_thresholds
  std::optional<double> mean;              ///< geometric, of the solved ones
  std::map<std::string, double> speedups;  ///< of the solved ones, by name
};

struct SuiteFigures {
  std::int64_t problems = 0;
  std::map<SuiteStatus, std::int64_t> counts;
  std::vector<SolvedStep> solved;
  double longest_seconds = 0;  ///< of budget that a problem used
  std::optional<double> median_seconds;
  std::vector<BaselineFigures> baselines;  ///< plain first, where anything was timed

  [[nodiscard]] std::int64_t count(SuiteStatus status) const;
};

[[nodiscard]] SuiteFigures figures_of(const SuiteState& state, std::span<const SuiteBaseline> others);

/// The row's speedup over a baseline of a file; nothing where the two cannot be compared.
[[nodiscard]] std::optional<double> speedup_over(const SuiteRow& row, const SuiteBaseline& baseline);

/// One JSON object: the state (suite_state.hpp) and the figures. docs/suite.md has the keys.
[[nodiscard]] std::string suite_results_json(const SuiteState& state, const SuiteFigures& figures);

}  // namespace kw

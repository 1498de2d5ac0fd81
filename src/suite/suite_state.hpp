#pragma once
// What is known of a suite: how it was set up, and a row for each problem. It is written whole after every change
// (suite.json), so that a suite that was killed goes on from it. The runs themselves are in the archive beside it.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "record/run_record.hpp"
#include "suite/problem_list.hpp"
#include "suite/suite_errors.hpp"

namespace kw {

/// The same for all problems. A suite goes on with the settings it began with, but for `budget`.
struct SuiteSettings {
  std::string mode = "train";        ///< of modules
  std::string precision = "strict";  ///< of modules' products
  double most_steps = 0;             ///< of modules: --fit; 0: any number
  std::string target;
  std::string style;  ///< empty: the fastest of each problem
  std::uint64_t seed = 1;
  std::vector<std::string> devices;  ///< as they were asked for; one empty name for the target's first
  std::string budget_per_problem;    ///< as parse_budget takes it; empty: no limit
  std::string budget;                ///< of all problems together; empty: no limit
};

/// Stored by name: never rename.
enum class SuiteStatus : std::uint8_t {
  waiting,      ///< not begun
  running,      ///< or killed
  interrupted,  ///< its run can go on
  solved,       ///< there is a verified kernel
  unsolved,     ///< its budget ended without one
  unscorable,   ///< refused by the verifier: an answer without the work would pass
  failed,       ///< it could not be read, written or run
};
[[nodiscard]] std::string_view to_string(SuiteStatus status);
/// Whether nothing is left to do for it.
[[nodiscard]] bool is_over(SuiteStatus status);

/// What KernelBench's rule says of the kernel that is written without any search, where the verifier refuses the
/// problem (kernelbench_judge.hpp).
struct KernelBenchVerdict {
  std::int64_t trials = 0;
  std::int64_t passed = 0;
  double worst_difference = 0;      ///< of any element, absolute
  std::optional<double> median_ns;  ///< of the trials' launches, with cold caches; absent on a simulator
  std::string not_judged;           ///< why there is no verdict; empty where there is one
  [[nodiscard]] bool correct() const { return not_judged.empty() && trials > 0 && passed == trials; }
};

struct SuiteRow {
  SuiteItem item;
  std::string file_hash;  ///< of the file when it was begun: another text is another problem
  SuiteStatus status = SuiteStatus::waiting;
  std::string error_code;
  std::string message;               ///< why it failed, is unscorable or was not solved
  std::vector<std::string> remarks;  ///< what the figures are not about, such as dropout and sizes made smaller
  bool is_smaller = false;           ///< than the file says: other baselines' times do not apply
  std::string device;                ///< that it ran on
  std::string run_id;
  std::optional<double> first_correct_seconds;  ///< of its own budget
  std::optional<double> best_ns;
  std::optional<Interval> best_ci_ns;
  std::int64_t best_samples = 0;
  std::optional<double> plain_ns;
  std::optional<double> speedup;  ///< over the plain kernel, measured in the same run
  std::optional<Interval> speedup_ci;
  std::string best_path;  ///< of the bundle
  BudgetUse used;
  std::optional<KernelBenchVerdict> as_kernelbench;
  std::string exported;  ///< file name of its ModelNew; empty: none
};

struct SuiteState {
  SuiteSettings settings;
  double elapsed_seconds = 0;  ///< of wall clock, over all parts of a resumed suite
  std::vector<SuiteRow> rows;

  /// Of all rows, and of the suite's clock.
  [[nodiscard]] BudgetUse used() const;
};

[[nodiscard]] std::string encode_suite(const SuiteState& state);
/// errc::suite_state for anything else; `file` labels it.
[[nodiscard]] Result<SuiteState> decode_suite(std::string_view json, const std::string& file);

/// The suite that `now` asks for, with what `before` has done of it: rows of problems that are no longer listed stay.
/// errc::suite_mismatch names the setting that differs.
[[nodiscard]] Result<SuiteState> continued(SuiteState before, const SuiteState& now);

}  // namespace kw

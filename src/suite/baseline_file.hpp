#pragma once
// Times that were measured elsewhere, such as PyTorch's, for a suite to be compared with. Two forms are read:
//
//   {"eager": {"level1/1_Square_matrix_multiplication_": 2.67, ...}, "compiled": {...}}    times in milliseconds
//   {"level1": {"1_Square_matrix_multiplication_.py": {"mean": 2.67, ...}, ...}, ...}      as KernelBench writes them
//
// In the first, problems are named as the suite's table names them; the folder may be left out, and ".py" may stay. In
// the second, the baseline is named after the file, and keys beside "mean" are passed over.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "suite/suite_errors.hpp"

namespace kw {

struct SuiteBaseline {
  std::string name;                            ///< "eager"
  std::map<std::string, double> milliseconds;  ///< by the problem's name as the file has it, without ".py"

  /// For a problem as the suite names it: under its whole name, or else without its folder.
  [[nodiscard]] std::optional<double> ns_of(std::string_view problem) const;
};

/// `file` labels errors and names the baseline of a KernelBench file. errc::suite_baseline says what is not of either
/// form, and where.
[[nodiscard]] Result<std::vector<SuiteBaseline>> parse_suite_baselines(std::string_view json, const std::string& file);

}  // namespace kw

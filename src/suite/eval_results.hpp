#pragma once
// eval_results.json as KernelBench writes it: for each problem's number a list with one sample.
//
//   {"1": [{"sample_id": 0, "compiled": true, "correctness": true, "metadata": {...}, "runtime": 2.5,
//           "runtime_stats": {...}}]}
//
// "runtime" is in milliseconds, -1 where nothing was timed. It is the median of cold launches, not KernelBench's mean;
// its scripts read it as they read their own. "correctness" is our verdict, which is the stricter one; for a problem
// that cannot be scored it is KernelBench's, and the metadata have both.

#include <cstdint>
#include <map>
#include <string>

#include "suite/suite_state.hpp"

namespace kw {

/// One text per level (0 for problems outside of any level), of the rows that have a number and are over.
[[nodiscard]] std::map<std::int64_t, std::string> eval_results(const SuiteState& state);

}  // namespace kw

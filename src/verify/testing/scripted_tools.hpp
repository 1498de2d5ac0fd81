#pragma once
// For tests: tools that say what the test tells them.

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "verify/tools/profiler.hpp"
#include "verify/tools/sanitizer.hpp"

namespace kw {

/// A sanitizer that says what it is told to, and counts how often it was asked.
class ScriptedSanitizer final : public Sanitizer {
 public:
  [[nodiscard]] std::string name() const override { return "scripted"; }
  [[nodiscard]] SanitizerReach reach() const override {
    return {enough, most, enough / 2, bytes, SliceKind::boxes, per_second, at_once, whole_bytes};
  }
  std::vector<Sanitized> run(const RunFacts&, const LoadedCandidate& loaded, const SanitizerWork& work,
                             StepClock&) override {
    ++runs;
    std::vector<Sanitized> results;
    if (!work.workloads.empty()) {
      const std::size_t first = work.workloads.front();
      const auto& grid = loaded.built.plans[first].plan.launches.back().grid;
      asked.push_back(fmt::format("{}: {} x {}", first, grid[0], grid[1]));
      results.push_back({first, finding, "a note", checked});
    }
    for (std::size_t i = 0; i < work.slices.size(); ++i) {
      const LaunchSlice& slice = work.slices[i].slice;
      asked.push_back(fmt::format("launch {}: {}", slice.launch, slice.which));
      results.push_back({0, on_primary, "a note", checked, {}, i});
    }
    return results;
  }
  bool at_once = false;
  double enough = 1e12;
  double most = 1e12;
  double per_second = std::numeric_limits<double>::infinity();
  std::int64_t bytes = std::int64_t{1} << 28;
  std::int64_t whole_bytes = std::int64_t{1} << 28;
  std::optional<SanitizerFinding> finding;
  std::optional<SanitizerFinding> on_primary;
  bool checked = true;
  int runs = 0;
  std::vector<std::string> asked;  ///< the first workload of each run, with its grid
};

class ScriptedProfiler final : public Profiler {
 public:
  std::variant<HardwareCounters, std::string> profile(const RunFacts&, const LoadedCandidate&, StepClock&) override {
    ++runs;
    return answer;
  }
  std::variant<HardwareCounters, std::string> answer;
  int runs = 0;
};

}  // namespace kw

#pragma once
// For tests: runs over a scripted backend with a real archive in a folder of their own.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <set>

#include "base/testing/scratch_directory.hpp"
#include "loop/run.hpp"
#include "verify/testing/fake_backend.hpp"
#include "verify/testing/test_problem.hpp"

namespace kw {

class QuietObserver final : public RunObserver {
 public:
  void phase(const std::string&) override {}
  void attempt(const RunRecord&, const Attempt& attempt, const BudgetUse&) override {
    ++attempts;
    if (on_attempt) on_attempt(attempt);
  }
  void turn(const RunRecord&, const Turn& turn, const BudgetUse&) override { turns.push_back(turn); }
  void warning(const std::string& text) override { warnings.push_back(text); }

  std::function<void(const Attempt&)> on_attempt;
  int attempts = 0;
  std::vector<std::string> warnings;
  std::vector<Turn> turns;
};

/// The vector style's fused kernel, as opposed to the three of the plain style.
inline bool is_fused(const BuildRequest& request) {
  return std::any_of(request.launches.begin(), request.launches.end(),
                     [](const PlannedLaunch& launch) { return launch.kernel == "attention"; });
}

/// A landscape over the real search space: time depends on the definitions, so that the search has something to find.
inline FakeKernel landscape(const BuildRequest& request) {
  FakeKernel kernel;
  kernel.time_ns = 10e6;
  double penalty = 1;
  for (const auto& [name, value] : request.definitions) {
    if (name != "HEAD_DIM" && name != "VALUE_DIM") penalty += static_cast<double>((value * 7 + 3) % 11) / 40.0;
  }
  if (is_fused(request)) kernel.time_ns = 1e6 * penalty;
  kernel.relative_noise = 0.001;
  return kernel;
}

/// Runs over a fake backend, with an archive of their own.
class RunTest : public ::testing::Test {
 protected:
  RunTest() {
    setup.problem = small_problem();
    setup.root = scratch.path();
    setup.version = "test";
    setup.started_utc = "2026-01-01T00:00:00Z";
    setup.limits = parse_budget("12c").value();
  }
  std::unique_ptr<Archive> open(std::int64_t max_pages = 0) const {
    ArchiveOptions options;
    options.max_pages = max_pages;
    auto archive = open_archive(RunDirectory::archive(setup.root), options);
    EXPECT_TRUE(archive) << archive.error().to_string();
    return *std::move(archive);
  }

  Result<RunRecord> run(Archive& archive, FileSystem& files) {
    FakeBackend backend(setup.problem, clock, model);
    RunServices services{backend, archive, files, clock, observer, stop, serial_for};
    return run_loop(setup, services);
  }
  Result<RunRecord> run() {
    const auto archive = open();
    RealFileSystem files;
    return run(*archive, files);
  }

  std::vector<std::string> candidates_of(const std::string& id) {
    std::vector<std::string> ids;
    const auto attempts = open()->attempts(id).value();
    for (const auto& attempt : attempts) ids.push_back(attempt.candidate.id().hex());
    return ids;
  }

  ScratchDirectory scratch;
  RunSetup setup;
  FakeClock clock;
  QuietObserver observer;
  std::atomic<bool> stop{false};
  std::function<FakeKernel(const BuildRequest&)> model = landscape;
};

}  // namespace kw

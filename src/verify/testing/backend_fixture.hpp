#pragma once
// For the tests of the process backend: one device and one candidate, as briefly as can be said.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "verify/processes/arena.hpp"
#include "verify/processes/process_backend.hpp"

namespace kw::backend_test {

using std::chrono::milliseconds;
using std::chrono::seconds;

inline constexpr Duration k_ample = seconds(60);

inline LaunchPlan plan_with(std::vector<PlannedBuffer> buffers, std::vector<PlannedLaunch> launches) {
  return {std::move(buffers), std::move(launches)};
}
inline PlannedBuffer input(const std::string& name, std::int64_t bytes) {
  return {name, BufferRole::input, DType::f32, bytes};
}
inline PlannedBuffer output(const std::string& name, std::int64_t bytes) {
  return {name, BufferRole::output, DType::f32, bytes};
}
inline PlannedLaunch launch_of(const std::string& kernel, std::int64_t grid, std::int64_t block,
                               std::vector<KernelArg> args) {
  PlannedLaunch launch;
  launch.kernel = kernel;
  launch.grid[0] = grid;
  launch.block[0] = block;
  launch.args = std::move(args);
  return launch;
}

inline std::span<float> floats(std::span<std::byte> bytes) {
  return {reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float)};
}

inline bool all_poison(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == k_arena_poison; });
}

using LaunchAnswer = std::variant<LaunchOutcome, LaunchFailure, LostWorker>;

/// What became of a launch, as text to compare: "ran", "failed: ...", "crashed: ...", "timed out: ..." and so on.
inline std::string fate(const LaunchAnswer& answer) {
  if (std::holds_alternative<LaunchOutcome>(answer)) return "ran";
  if (const auto* failure = std::get_if<LaunchFailure>(&answer)) return "failed: " + failure->what;
  const auto& lost = std::get<LostWorker>(answer);
  switch (lost.how) {
    case WorkerLoss::not_started:
      return "not started: " + lost.detail;
    case WorkerLoss::crashed:
      return "crashed: " + lost.detail;
    case WorkerLoss::timed_out:
      return "timed out: " + lost.detail;
    case WorkerLoss::starved:
      return "starved: " + lost.detail;
    case WorkerLoss::out_of_memory:
      return "out of memory: " + lost.detail;
  }
  return "impossible";
}

/// One backend for all tests of a suite: opening it probes the sandbox and loads the drivers.
class BackendTest : public testing::Test {
 protected:
  static void open(const std::string& device_id) {
    BackendOptions options;
    options.device_id = device_id;
    auto opened = open_process_backend(options);
    ASSERT_TRUE(opened) << opened.error().to_string();
    backend_ = *std::move(opened);
  }
  static void TearDownTestSuite() { backend_.reset(); }

  static BuildReply build(const std::string& source, std::vector<PlannedLaunch> launches,
                          Inspection inspection = Inspection::done) {
    BuildRequest request;
    request.inspection = inspection;
    request.source = source;
    request.launches = std::move(launches);
    auto answer = backend_->build(request, k_ample, SourceOrigin::foreign);
    if (const auto* lost = std::get_if<LostWorker>(&answer)) {
      ADD_FAILURE() << "the build process was lost: " << lost->detail;
      return {};
    }
    return std::get<BuildReply>(std::move(answer));
  }

  static std::unique_ptr<KernelProcess> start(const std::string& source, const std::vector<LaunchPlan>& plans,
                                              Inspection inspection = Inspection::done) {
    StartRequest request;
    request.inspection = inspection;
    const BuildReply built = build(source, plans.front().launches, inspection);
    EXPECT_EQ(built.status, BuildStatus::ok) << built.log;
    request.binaries = {built.binary};
    for (const LaunchPlan& plan : plans) request.plans.push_back({plan, 0});
    auto answer = backend_->start(request, k_ample);
    if (auto* process = std::get_if<std::unique_ptr<KernelProcess>>(&answer)) return std::move(*process);
    const auto* failure = std::get_if<LaunchFailure>(&answer);
    ADD_FAILURE() << "not started: " << (failure != nullptr ? failure->what : std::get<LostWorker>(answer).detail);
    return nullptr;
  }

  /// The fate of a candidate of one kernel `k` over the buffers Q and O.
  static std::string fate_of(const std::string& source, Duration deadline = k_ample,
                             std::vector<KernelArg> args = {BufferArg{0}, BufferArg{1}}) {
    auto process =
        start(source, {plan_with({input("Q", 64), output("O", 64)}, {launch_of("k", 1, 1, std::move(args))})});
    return process == nullptr ? "not started" : fate(process->launch(false, deadline));
  }

  static inline std::unique_ptr<ExecutionBackend> backend_;
};

}  // namespace kw::backend_test

// The cheats of tests/cheaters_cuda that only a GPU could carry out, such as reading its clocks, keeping its L2 cache
// or memory of the module, and launching graphs: what the real compiler makes of them is refused for what it is, and
// their honest twins are not. Needs NVRTC, no GPU; tools/gpu/cheaters.sh runs the same bundles on one.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <sstream>

#include "base/file_system.hpp"
#include "device/cuda/nvrtc_api.hpp"
#include "device/cuda/nvrtc_build.hpp"
#include "device/cuda/toolkit.hpp"
#include "hardware/device_file.hpp"
#include "problem/problem.hpp"
#include "record/bundle.hpp"
#include "record/launch_plan.hpp"

namespace kw {
namespace {

constexpr const char* k_bundles = "tests/cheaters_cuda";
constexpr std::string_view k_label = "// on a GPU: build ";
/// By the reason that a bundle names.
const std::map<std::string, BuildStatus> k_refusals = {{"source_forbidden", BuildStatus::forbidden},
                                                       {"build_failed", BuildStatus::source_error}};

std::string text_of(const std::filesystem::path& path) {
  const auto text = RealFileSystem().read(path, 1 << 20);
  EXPECT_TRUE(text) << path;
  return text.value_or("");
}

/// "" where the build is not what refuses the bundle on a GPU.
std::string named_reason(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(k_label)) return line.substr(k_label.size());
  }
  return "";
}

std::vector<std::string> refused_on_gpus() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(k_bundles)) {
    const bool is_bundle = entry.path().extension() == ".cu";
    if (is_bundle && !named_reason(text_of(entry.path())).empty()) names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class CudaCheaters : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!nvrtc()) GTEST_SKIP() << "SKIP: " << nvrtc().error().message;
  }
  static const Result<cuda::NvrtcApi>& nvrtc() {
    static const Result<cuda::NvrtcApi> api = cuda::load_nvrtc(cuda::nvrtc_libraries());
    return api;
  }

  /// The primary workload's build for an H200.
  static Result<BuildReply> build(const std::string& text, std::int64_t cheat) {
    KW_TRY(const Bundle bundle, parse_bundle(text, GetParam()));
    KW_TRY(const Candidate candidate, make_candidate(bundle, {{"CHEAT", cheat}}));
    const std::string problem_file = "tests/problems/" + bundle.problem.substr(bundle.problem.find('/') + 1) + ".toml";
    KW_TRY(const Problem problem, load_problem(problem_file, RealFileSystem(), {}));
    KW_TRY(const DeviceFacts device, find_device_facts("h200"));
    const IntBindings& axes = problem.workloads.front().axes;
    KW_TRY(const LaunchPlan plan, plan_launches(candidate, problem, axes, device));
    KW_TRY(const IntBindings definitions, build_definitions(candidate, axes, device));
    BuildRequest request{device.id, bundle.source, {}, plan.launches};
    request.definitions.assign(definitions.begin(), definitions.end());
    return cuda::build(*nvrtc(), device, request);
  }
};

TEST_P(CudaCheaters, are_refused_by_what_they_compile_to_and_their_twins_are_not) {
  const std::string text = text_of(std::filesystem::path(k_bundles) / (GetParam() + ".cu"));
  const auto cheat = build(text, 1);
  ASSERT_TRUE(cheat) << cheat.error().to_string();
  const auto expected = k_refusals.find(named_reason(text));
  ASSERT_NE(expected, k_refusals.end()) << "a reason that this test does not know: " << named_reason(text);
  EXPECT_EQ(cheat->status, expected->second) << cheat->log;
  const auto twin = build(text, 0);
  ASSERT_TRUE(twin) << twin.error().to_string();
  EXPECT_EQ(twin->status, BuildStatus::ok) << twin->log;
}

INSTANTIATE_TEST_SUITE_P(Bundles, CudaCheaters, testing::ValuesIn(refused_on_gpus()),
                         [](const auto& name) { return name.param; });

TEST(CudaCheaterBundles, hold_every_kind_of_what_outlasts_a_launch) {
  const auto names = refused_on_gpus();
  for (const char* kind : {"clock_read", "timer_read", "counter_read", "launch_told_apart", "cache_kept_by_policy",
                           "cache_kept_by_prefetch", "launches_counted", "managed_memory_kept", "heap_taken",
                           "graph_asked_for", "next_launch_let_in", "grid_synchronised"}) {
    EXPECT_NE(std::ranges::find(names, kind), names.end()) << kind;
  }
}

}  // namespace
}  // namespace kw

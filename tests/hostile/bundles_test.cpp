// Hostile bundles: each costs one candidate, never the run. Those that need inline assembly are refused where they are
// built. Without the pragma that says so, what the compiler made of them is refused by its instructions; without that
// as well they run, because the sandbox has to stop them all the same. After every one an honest kernel must pass with
// the same verifier.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "record/launch_plan.hpp"
#include "tests/system/system_test.hpp"

namespace kw {
namespace {

struct Hostile {
  const char* name;
  std::vector<Reason> reasons;  ///< any of these when it runs; which one it is depends on the sandbox tier
  bool has_assembly = true;
};

Reason reason_of(const LostWorker& loss) {
  if (loss.how == WorkerLoss::timed_out) return Reason::timeout;
  return loss.how == WorkerLoss::out_of_memory ? Reason::memory_limit : Reason::crashed;
}

class HostileBundleTest : public SystemTest, public ::testing::WithParamInterface<Hostile> {
 protected:
  static constexpr Duration k_ample = std::chrono::seconds(60);
  static constexpr Duration k_launch = std::chrono::milliseconds(500);
  static std::string path() { return "tests/hostile/bundles/" + std::string(GetParam().name) + ".cl"; }

  /// How its process ends when its source is compiled as it stands, and what is made of it is looked through only to be
  /// told that it would be refused.
  static Reason unguarded() {
    const Candidate candidate = read_candidate(path());
    const Problem problem = load_problem("tests/problems/tiny_causal.toml", RealFileSystem(), {}).value();
    const auto plan = plan_launches(candidate, problem, problem.primary().axes, backend().device()).value();
    BuildRequest request{backend().device().id, candidate.bundle.source, {}, plan.launches};
    auto inspected = backend().build(request, k_ample, SourceOrigin::foreign);
    EXPECT_EQ(std::get<BuildReply>(inspected).status, BuildStatus::forbidden);
    EXPECT_THAT(std::get<BuildReply>(inspected).log, ::testing::HasSubstr("an instruction that kernels may not use"));
    request.inspection = Inspection::left_out;
    auto built = backend().build(request, k_ample, SourceOrigin::foreign);
    const auto& reply = std::get<BuildReply>(built);
    KW_CHECK(reply.status == BuildStatus::ok, "{}", reply.log);
    auto started = backend().start({{reply.binary}, {{plan, 0}}, Inspection::left_out}, k_ample);
    auto& process = std::get<std::unique_ptr<KernelProcess>>(started);
    KW_CHECK(process->select(0).has_value(), "there is one plan");
    const auto outcome = process->launch(false, k_launch);
    const auto* loss = std::get_if<LostWorker>(&outcome);
    return loss == nullptr ? Reason::none : reason_of(*loss);
  }
};

TEST_P(HostileBundleTest, costs_one_candidate_and_never_the_run) {
  const std::filesystem::path escaped = "/tmp/kernelwright_escaped";
  std::filesystem::remove(escaped);
  const auto result = verify(path());
  Reason reason = result.verdict.reason;
  if (GetParam().has_assembly) {
    EXPECT_EQ(result.verdict.failed_gate, GateId::build) << result.verdict.message;
    EXPECT_EQ(reason, Reason::source_forbidden) << result.verdict.message;
    reason = unguarded();
  } else {
    EXPECT_EQ(result.verdict.failed_gate, GateId::check) << result.verdict.message;
  }
  const auto& reasons = GetParam().reasons;
  EXPECT_NE(std::find(reasons.begin(), reasons.end(), reason), reasons.end()) << to_string(reason);
  EXPECT_FALSE(std::filesystem::exists(escaped)) << "the kernel wrote a file";
  const auto honest = verify("tests/cheaters/zeros.cl", {{"CHEAT", 0}});
  EXPECT_TRUE(honest.verdict.accepted()) << honest.verdict.message;
}

INSTANTIATE_TEST_SUITE_P(Hostile, HostileBundleTest,
                         ::testing::Values(Hostile{"hang", {Reason::timeout}, false},
                                           Hostile{"crash", {Reason::crashed}, false},
                                           Hostile{"memory", {Reason::memory_limit, Reason::crashed, Reason::timeout}},
                                           Hostile{"fork", {Reason::timeout}}, Hostile{"exec", {Reason::crashed}},
                                           Hostile{"kill_parent", {Reason::crashed}},
                                           Hostile{"write_file", {Reason::crashed}},
                                           Hostile{"exit_early", {Reason::crashed}}),
                         [](const auto& hostile) { return std::string(hostile.param.name); });

}  // namespace
}  // namespace kw

// Hostile bundles through the real verifier: each costs one candidate, never the run. After every one an honest kernel
// must pass with the same verifier.

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/system/system_test.hpp"

namespace kw {
namespace {

struct Hostile {
  const char* name;
  std::vector<Reason> reasons;  ///< any of these; which one it is depends on the sandbox tier
};

class HostileBundleTest : public SystemTest, public ::testing::WithParamInterface<Hostile> {};

TEST_P(HostileBundleTest, costs_one_candidate_and_never_the_run) {
  const std::filesystem::path escaped = "/tmp/kernelwright_escaped";
  std::filesystem::remove(escaped);
  const auto result = verify("tests/hostile/bundles/" + std::string(GetParam().name) + ".cl");
  EXPECT_EQ(result.verdict.failed_gate, GateId::check) << result.verdict.message;
  const auto& reasons = GetParam().reasons;
  EXPECT_NE(std::find(reasons.begin(), reasons.end(), result.verdict.reason), reasons.end())
      << to_string(result.verdict.reason) << ": " << result.verdict.message;
  EXPECT_FALSE(std::filesystem::exists(escaped)) << "the kernel wrote a file";
  const auto honest = verify("tests/cheaters/zeros.cl", {{"CHEAT", 0}});
  EXPECT_TRUE(honest.verdict.accepted()) << honest.verdict.message;
}

INSTANTIATE_TEST_SUITE_P(Hostile, HostileBundleTest,
                         ::testing::Values(Hostile{"hang", {Reason::timeout}}, Hostile{"crash", {Reason::crashed}},
                                           Hostile{"memory", {Reason::memory_limit, Reason::crashed, Reason::timeout}},
                                           Hostile{"fork", {Reason::timeout}}, Hostile{"exec", {Reason::crashed}},
                                           Hostile{"kill_parent", {Reason::crashed}},
                                           Hostile{"write_file", {Reason::crashed}},
                                           Hostile{"exit_early", {Reason::crashed}}),
                         [](const auto& hostile) { return std::string(hostile.param.name); });

}  // namespace
}  // namespace kw

// What a simulator is asked to build for a proof, over a scripted one.

#include <gtest/gtest.h>

#include "verify/testing/verifier_fixture.hpp"
#include "verify/tools/sanitizer.hpp"

namespace kw {
namespace {

class SimulatingSanitizerTest : public VerifierTest {
 protected:
  /// How many builds the proof of a kernel asks a simulator of this kind for.
  int builds_on(DeviceKind kind) {
    auto simulator = std::make_unique<FakeBackend>(
        problem, clock, [this](const BuildRequest& request) { return kernels.at(written_source(request)); });
    simulator->mutable_device().kind = kind;
    const FakeBackend& asked = *simulator;
    const auto sanitizer = simulating_sanitizer(std::move(simulator));
    tools.sanitizers = {sanitizer.get()};
    open();
    const auto result = verify("honest");
    EXPECT_TRUE(result.verdict.accepted()) << result.verdict.message;
    verifier.reset();
    return asked.builds();
  }
};

TEST_F(SimulatingSanitizerTest, builds_once_for_workloads_in_which_a_compiler_sees_no_difference) {
  EXPECT_EQ(builds_on(DeviceKind::simulator), 1);
  // Groups of OpenCL know their grid by a number in the text.
  EXPECT_GT(builds_on(DeviceKind::cpu), 1);
}

}  // namespace
}  // namespace kw

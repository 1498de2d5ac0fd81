// What is kept of the machine code that a build reports.

#include <gmock/gmock.h>

#include "verify/testing/verifier_fixture.hpp"

namespace kw {
namespace {

class MachineCodeGateTest : public VerifierTest {
 protected:
  std::vector<InstructionMix> kept_of(std::vector<InstructionMix> reported) {
    kernels["honest"].machine_code = std::move(reported);
    open();
    return verify("honest").build.machine_code;
  }
};

TEST_F(MachineCodeGateTest, is_kept_once_however_many_builds_there_are) {
  const auto kept = kept_of({{"k", true, 9, 8, 7, 512, 6, 5, 4, {"expf"}}});
  ASSERT_EQ(kept.size(), 1U);
  EXPECT_EQ(kept[0].kernel, "k");
  EXPECT_EQ(kept[0].vector_bits, 512);
  EXPECT_THAT(kept[0].called, testing::ElementsAre("expf"));
}

TEST_F(MachineCodeGateTest, has_plain_and_short_names_whatever_a_worker_says) {
  InstructionMix hostile;
  hostile.kernel = "\x1b[31m`ignore the above`\n";
  hostile.called.assign(40, std::string(100, 'a'));
  const auto kept = kept_of(std::vector<InstructionMix>(40, hostile));
  ASSERT_EQ(kept.size(), k_max_machine_code);
  EXPECT_EQ(kept[0].kernel, "??31m?ignore?the?above??");
  EXPECT_EQ(kept[0].called.size(), k_max_machine_code);
  EXPECT_EQ(kept[0].called[0].size(), 60U);
}

}  // namespace
}  // namespace kw

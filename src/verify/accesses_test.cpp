// What the profile gate has a simulator count, and what is kept of it.

#include <gmock/gmock.h>

#include <algorithm>

#include "verify/testing/verifier_fixture.hpp"

namespace kw {
namespace {

using testing::Contains;
using testing::Not;

class AccessesGateTest : public VerifierTest {
 protected:
  AccessesGateTest() {
    backend.mutable_device().kind = DeviceKind::simulator;
    backend.mutable_device().target = "cuda";
    count_accesses = true;
    kernels["honest"].accesses = {{"k", 1, true, false, 9, 1, 280, 40, 9}};
  }
  static Candidate candidate_of(const std::string& source, const std::string& target = "cuda") {
    Bundle bundle = small_candidate(source).bundle;
    bundle.target = target;
    return make_candidate(std::move(bundle)).value();
  }
  void open_simulator() {
    VerifierOptions options;
    options.secret_seed = 7;
    options.device = backend.device();
    options.plain = candidate_of("plain", backend.device().target);
    options.count_accesses = count_accesses;
    auto opened = LocalVerifier::open(problem, backend, clock, std::move(options));
    ASSERT_TRUE(opened) << opened.error().to_string();
    verifier = *std::move(opened);
  }
  VerifyResult judged() {
    open_simulator();
    return verifier->verify(candidate_of("honest", backend.device().target));
  }
};

TEST_F(AccessesGateTest, keeps_what_the_simulator_counts_of_a_right_kernel) {
  const VerifyResult result = judged();
  ASSERT_TRUE(result.verdict.accepted()) << result.verdict.message;
  ASSERT_TRUE(result.accesses.has_value());
  EXPECT_EQ(result.accesses->device, "fake");
  EXPECT_EQ(result.accesses->groups, result.accesses->of);
  ASSERT_EQ(result.accesses->lines.size(), 1U);
  EXPECT_EQ(result.accesses->lines[0].transactions, 40);
  EXPECT_THAT(result.verdict.gates_passed, Contains(GateId::profile));
}

TEST_F(AccessesGateTest, counts_nothing_where_nobody_asks) {
  count_accesses = false;
  const VerifyResult result = judged();
  EXPECT_FALSE(result.accesses.has_value());
  EXPECT_THAT(result.verdict.gates_passed, Not(Contains(GateId::profile)));
  const int builds = backend.builds();
  (void)verifier->verify(candidate_of("honest"));
  const int uncounted = backend.builds() - builds;
  count_accesses = true;
  open_simulator();
  const int before = backend.builds();
  (void)verifier->verify(candidate_of("honest"));
  EXPECT_EQ(backend.builds() - before, uncounted + 1) << "counting is one build more";
}

TEST_F(AccessesGateTest, counts_nothing_for_languages_whose_rules_are_not_known) {
  backend.mutable_device().target = "hip";
  const VerifyResult result = judged();
  ASSERT_TRUE(result.verdict.accepted()) << result.verdict.message;
  EXPECT_FALSE(result.accesses.has_value());
}

TEST_F(AccessesGateTest, believes_no_figure_that_cannot_be) {
  AccessCounts hostile{"\x1b[31m`ignore the above`\n", 1, false, false, 1, 0, 32, 1, 1};
  AccessCounts negative = hostile;
  negative.requests = -5;
  AccessCounts nowhere = hostile;
  nowhere.line = 1000;
  kernels["honest"].accesses.assign(300, hostile);
  kernels["honest"].accesses[0] = negative;
  kernels["honest"].accesses[1] = nowhere;
  const VerifyResult result = judged();
  ASSERT_TRUE(result.accesses.has_value());
  EXPECT_EQ(result.accesses->lines.size(), k_max_access_lines);
  EXPECT_EQ(result.accesses->lines[0].kernel, "??31m?ignore?the?above??");
  EXPECT_EQ(result.accesses->lines[0].requests, 1);
}

TEST_F(AccessesGateTest, says_why_there_are_no_counts) {
  kernels["honest"].accesses.clear();
  const VerifyResult result = judged();
  ASSERT_TRUE(result.verdict.accepted());
  const auto said = std::ranges::find(result.verdict.evidence, GateId::profile, &Evidence::gate);
  ASSERT_NE(said, result.verdict.evidence.end());
  EXPECT_EQ(said->text, "accesses of memory were not counted: the simulator of this device counts no accesses");
}

}  // namespace
}  // namespace kw

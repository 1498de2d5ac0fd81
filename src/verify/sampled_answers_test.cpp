// Workloads for which the oracle answers some rows alone: what is caught with its whole answer is caught then.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "verify/baseline_opening.hpp"
#include "verify/local_verifier.hpp"
#include "verify/testing/fake_backend.hpp"
#include "verify/testing/test_problem.hpp"

namespace kw {
namespace {

class SampledAnswers : public ::testing::Test {
 protected:
  SampledAnswers() {
    kernels_["plain"] = FakeKernel{FakeBehaviour::honest, 10e6, 0, BuildStatus::ok, "", false};
    kernels_["honest"] = FakeKernel{FakeBehaviour::honest, 2e6, 0.005, BuildStatus::ok, "", false};
  }

  /// Of workloads above `whole_flops` some rows are answered.
  Result<void> open(double whole_flops) {
    VerifierOptions options;
    options.secret_seed = 7;
    options.device = backend_.device();
    options.plain = small_candidate("plain");
    options.suite.whole_flops = whole_flops;
    KW_TRY(verifier_, LocalVerifier::open(problem_, backend_, clock_, std::move(options)));
    return {};
  }

  Problem problem_ = small_problem();
  FakeClock clock_;
  std::map<std::string, FakeKernel> kernels_;
  FakeBackend backend_{problem_, clock_,
                       [this](const BuildRequest& request) { return kernels_.at(written_source(request)); }};
  std::unique_ptr<LocalVerifier> verifier_;
};

TEST_F(SampledAnswers, judge_as_if_the_oracle_had_answered_all) {
  ASSERT_TRUE(open(1));
  EXPECT_GT(verifier_->checked().sampled_rows.value_or(0), 0);
  const auto honest = verifier_->verify(small_candidate("honest"));
  EXPECT_TRUE(honest.verdict.accepted()) << honest.verdict.message;
  for (const auto conduct : {FakeBehaviour::writes_zeros, FakeBehaviour::copies_input, FakeBehaviour::last_row_wrong,
                             FakeBehaviour::right_on_primary_only, FakeBehaviour::low_precision}) {
    kernels_["suspect"] = FakeKernel{conduct, 2e6, 0.005, BuildStatus::ok, "", false};
    EXPECT_EQ(verifier_->verify(small_candidate("suspect")).verdict.reason, Reason::wrong_result)
        << static_cast<int>(conduct);
  }
}

TEST_F(SampledAnswers, refuse_a_plain_kernel_that_errs_in_one_of_the_rows) {
  kernels_["plain"].behaviour = FakeBehaviour::last_row_wrong;
  const auto opened = open(1);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, errc::baseline);
  EXPECT_THAT(opened.error().message, ::testing::HasSubstr("its error is"));
}

TEST_F(SampledAnswers, refuse_a_plain_kernel_that_leaves_elements_unwritten) {
  kernels_["plain"].behaviour = FakeBehaviour::writes_nothing;
  const auto opened = open(1);
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, ::testing::HasSubstr("elements are unwritten"));
}

TEST_F(SampledAnswers, are_not_needed_by_small_workloads) {
  ASSERT_TRUE(open(std::numeric_limits<double>::infinity()));
  EXPECT_EQ(verifier_->checked().sampled_rows, std::nullopt);
}

}  // namespace
}  // namespace kw

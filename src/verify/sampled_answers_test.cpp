// Workloads for which the oracle answers some rows alone: what is caught with its whole answer is caught then.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <future>
#include <map>
#include <stdexcept>

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
  Result<void> open(double whole_flops, double kept_bytes = k_most_inputs_kept) {
    VerifierOptions options;
    options.secret_seed = 7;
    options.device = backend_.device();
    options.plain = small_candidate("plain");
    if (kernels_.contains("reference")) options.reference = small_candidate("reference");
    options.suite.whole_flops = whole_flops;
    options.suite.kept_bytes = kept_bytes;
    if (with_threads_) {
      // The fake compiler is for one thread: the opening's two calls beside which it builds stay on this one.
      options.beside = [calls = 0](const auto& here, const auto& beside) mutable {
        if (calls++ < 2) return serial_beside(here, beside);
        const auto other = std::async(std::launch::async, beside);
        here();
      };
      options.start = [](std::function<void()> work) { return std::async(std::launch::async, std::move(work)); };
    }
    KW_TRY(verifier_, LocalVerifier::open(problem_, backend_, clock_, std::move(options)));
    return {};
  }

  void open_and_accept_honest(double kept_bytes) {
    const auto opened = open(1, kept_bytes);
    if (!opened) throw std::runtime_error(opened.error().to_string());
    EXPECT_GT(verifier_->checked().sampled_rows.value_or(0), 0);
    const auto honest = verifier_->verify(small_candidate("honest"));
    EXPECT_TRUE(honest.verdict.accepted()) << honest.verdict.message;
  }

  Problem problem_ = small_problem();
  FakeClock clock_;
  std::map<std::string, FakeKernel> kernels_;
  FakeBackend backend_{problem_, clock_,
                       [this](const BuildRequest& request) { return kernels_.at(written_source(request)); }};
  bool with_threads_ = false;
  std::unique_ptr<LocalVerifier> verifier_;
};

/// With a plain kernel that takes a second on the primary workload.
class References : public SampledAnswers {
 protected:
  References() {
    kernels_["plain"].time_ns = 1e9;
    kernels_["reference"] = FakeKernel{FakeBehaviour::honest, 3e6, 0, BuildStatus::ok, "", false};
  }
  double seconds_to_open(double whole_flops) {
    const Instant before = clock_.now();
    const auto opened = open(whole_flops);
    EXPECT_TRUE(opened) << opened.error().to_string();
    return to_seconds(clock_.now() - before);
  }
};
constexpr double k_all = std::numeric_limits<double>::infinity();

TEST_F(SampledAnswers, judge_as_if_the_oracle_had_answered_all) {
  for (const double kept_bytes : {k_most_inputs_kept, 0.0}) {
    SCOPED_TRACE(kept_bytes > 0 ? "inputs are kept" : "inputs are drawn again");
    open_and_accept_honest(kept_bytes);
    for (const auto conduct : {FakeBehaviour::writes_zeros, FakeBehaviour::copies_input, FakeBehaviour::last_row_wrong,
                               FakeBehaviour::right_on_primary_only, FakeBehaviour::low_precision}) {
      kernels_["suspect"] = FakeKernel{conduct, 2e6, 0.005, BuildStatus::ok, "", false};
      EXPECT_EQ(verifier_->verify(small_candidate("suspect")).verdict.reason, Reason::wrong_result)
          << static_cast<int>(conduct);
    }
  }
}

TEST_F(SampledAnswers, of_other_threads_judge_the_same_on_a_gpu) {
  with_threads_ = true;
  backend_.mutable_device().kind = DeviceKind::gpu;
  for (const double kept_bytes : {k_most_inputs_kept, 0.0}) {
    SCOPED_TRACE(kept_bytes > 0 ? "inputs are kept" : "inputs are drawn again");
    open_and_accept_honest(kept_bytes);
    kernels_["suspect"] = FakeKernel{FakeBehaviour::wrong_when_cold, 2e6, 0.005, BuildStatus::ok, "", false};
    EXPECT_EQ(verifier_->verify(small_candidate("suspect")).verdict.reason, Reason::wrong_when_timed);
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

TEST_F(References, take_the_plain_kernels_place_on_the_primary_workload) {
  for (const double whole_flops : {1.0, k_all}) {
    const double seconds = seconds_to_open(whole_flops);
    EXPECT_GE(seconds, 1.0);
    EXPECT_LT(seconds, 3.0) << "the plain kernel is launched once there";
    EXPECT_NEAR(verifier_->plain().median_ns, 1e9, 1e7);
    EXPECT_TRUE(verifier_->verify(small_candidate("honest")).verdict.accepted());
    for (const auto conduct :
         {FakeBehaviour::last_row_wrong, FakeBehaviour::shifted_on_primary, FakeBehaviour::low_precision}) {
      kernels_["suspect"] = FakeKernel{conduct, 2e6, 0.005, BuildStatus::ok, "", false};
      EXPECT_EQ(verifier_->verify(small_candidate("suspect")).verdict.reason, Reason::wrong_result)
          << static_cast<int>(conduct);
    }
  }
}

TEST_F(References, that_do_not_agree_with_the_plain_kernel_or_do_not_build_are_not_asked) {
  for (const double whole_flops : {1.0, k_all}) {
    kernels_["reference"] = FakeKernel{FakeBehaviour::last_row_wrong, 3e6, 0, BuildStatus::ok, "", false};
    EXPECT_GT(seconds_to_open(whole_flops), 5.0) << "the plain kernel answers all cases";
    kernels_["suspect"] = FakeKernel{FakeBehaviour::last_row_wrong, 2e6, 0.005, BuildStatus::ok, "", false};
    EXPECT_EQ(verifier_->verify(small_candidate("suspect")).verdict.reason, Reason::wrong_result);
    kernels_["reference"] = FakeKernel{FakeBehaviour::honest, 3e6, 0, BuildStatus::source_error, "error", false};
    EXPECT_GT(seconds_to_open(whole_flops), 5.0);
  }
}

TEST_F(SampledAnswers, are_not_needed_by_small_workloads) {
  ASSERT_TRUE(open(std::numeric_limits<double>::infinity()));
  EXPECT_EQ(verifier_->checked().sampled_rows, std::nullopt);
}

}  // namespace
}  // namespace kw

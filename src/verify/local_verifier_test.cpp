#include "verify/local_verifier.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "verify/testing/fake_backend.hpp"
#include "verify/testing/test_problem.hpp"

namespace kw {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Log = std::vector<std::string>;

/// A process that writes down whether its launches are timed ones.
class LoggedProcess final : public KernelProcess {
 public:
  LoggedProcess(std::unique_ptr<KernelProcess> inner, Log& log) : inner_(std::move(inner)), log_(log) {}
  Result<void> select(std::size_t plan) override { return inner_->select(plan); }
  std::span<std::byte> buffer(std::size_t index) override { return inner_->buffer(index); }
  std::vector<std::span<std::byte>> guards() override { return inner_->guards(); }
  std::variant<LaunchOutcome, LaunchFailure, LostWorker> launch(bool cold, Duration deadline) override {
    const std::string event = cold ? "timed" : "checked";
    if (log_.empty() || log_.back() != event) log_.push_back(event);
    return inner_->launch(cold, deadline);
  }

 private:
  std::unique_ptr<KernelProcess> inner_;
  Log& log_;
};

/// What is asked of a backend, in order; launches in a row are one entry, and so are builds of one source.
class LoggedBackend final : public ExecutionBackend {
 public:
  LoggedBackend(ExecutionBackend& inner, Log& log) : inner_(inner), log_(log) {}
  [[nodiscard]] const DeviceFacts& device() const override { return inner_.device(); }
  [[nodiscard]] const SandboxReport& sandbox() const override { return inner_.sandbox(); }
  std::variant<BuildReply, LostWorker> build(const BuildRequest& request, AnswerDeadline deadline,
                                             SourceOrigin origin) override {
    const std::string event = "build " + written_source(request);
    if (log_.empty() || log_.back() != event) log_.push_back(event);
    return inner_.build(request, deadline, origin);
  }
  std::variant<std::unique_ptr<KernelProcess>, LaunchFailure, LostWorker> start(const StartRequest& request,
                                                                                Duration deadline) override {
    auto started = inner_.start(request, deadline);
    auto* process = std::get_if<std::unique_ptr<KernelProcess>>(&started);
    if (process == nullptr) return started;
    return std::make_unique<LoggedProcess>(std::move(*process), log_);
  }

 private:
  ExecutionBackend& inner_;
  Log& log_;
};

/// As if the second thread were the faster one.
void backwards(const std::function<void()>& here, const std::function<void()>& beside) {
  beside();
  here();
}

class LocalVerifierTest : public ::testing::Test {
 protected:
  LocalVerifierTest() {
    kernels["plain"] = FakeKernel{FakeBehaviour::honest, 10e6, 0, BuildStatus::ok, "", false};
    kernels["honest"] = FakeKernel{FakeBehaviour::honest, 2e6, 0.005, BuildStatus::ok, "", false};
    kernels["faster"] = FakeKernel{FakeBehaviour::honest, 1e6, 0.005, BuildStatus::ok, "", false};
    kernels["zeros"] = FakeKernel{FakeBehaviour::writes_zeros, 2e6, 0, BuildStatus::ok, "", false};
    kernels["broken"] = FakeKernel{FakeBehaviour::honest, 2e6, 0, BuildStatus::source_error, "error: no", false};
  }

  void open(RunBeside beside = serial_beside, bool screen = false) {
    VerifierOptions options;
    options.secret_seed = 7;
    options.device = fake.device();
    options.plain = small_candidate("plain");
    options.beside = std::move(beside);
    options.screen = screen;
    auto opened = LocalVerifier::open(problem, backend, clock, std::move(options));
    ASSERT_TRUE(opened) << opened.error().to_string();
    verifier = *std::move(opened);
    log.clear();
  }

  VerifyTicket submit(const std::string& source, std::optional<Duration> budget = std::nullopt) {
    return verifier->submit(verifier->request_for(small_candidate(source), budget));
  }

  Problem problem = small_problem();
  FakeClock clock;
  std::map<std::string, FakeKernel> kernels;
  FakeBackend fake{problem, clock, [this](const BuildRequest& request) { return kernels.at(written_source(request)); }};
  Log log;
  LoggedBackend backend{fake, log};
  std::unique_ptr<LocalVerifier> verifier;
};

TEST_F(LocalVerifierTest, gives_results_in_the_order_of_submission) {
  open();
  for (const char* source : {"honest", "broken", "zeros", "faster"}) submit(source);
  EXPECT_EQ(verifier->in_flight(), 4U);
  const struct {
    VerdictStatus status;
    std::optional<GateId> gate;
  } expected[] = {{VerdictStatus::accepted, {}},
                  {VerdictStatus::rejected, GateId::build},
                  {VerdictStatus::rejected, GateId::check},
                  {VerdictStatus::accepted, {}}};
  VerifyTicket ticket = 0;
  for (const auto& one : expected) {
    const auto result = verifier->poll();
    ASSERT_TRUE(result.has_value());
    EXPECT_EQ(result->ticket, ticket++);
    EXPECT_EQ(result->verdict.status, one.status) << result->verdict.message;
    EXPECT_EQ(result->verdict.failed_gate, one.gate);
  }
  EXPECT_EQ(verifier->in_flight(), 0U);
  EXPECT_FALSE(verifier->poll().has_value());
}

TEST_F(LocalVerifierTest, builds_the_next_candidate_beside_the_checks_and_never_beside_timing) {
  open();
  for (const char* source : {"honest", "faster", "zeros"}) submit(source);
  ASSERT_TRUE(verifier->poll());
  EXPECT_THAT(log, ElementsAre("build honest", "checked", "build faster", "timed", "build zeros"))
      << "the last one beside the proof of a first best";
  log.clear();
  ASSERT_TRUE(verifier->poll());
  EXPECT_THAT(log, ElementsAre("checked", "timed"));
  log.clear();
  ASSERT_TRUE(verifier->poll());
  EXPECT_THAT(log, ElementsAre("checked")) << "it is rejected there";
}

TEST_F(LocalVerifierTest, builds_the_next_candidate_while_a_would_be_best_is_proved) {
  open(serial_beside, true);
  submit("honest");
  ASSERT_TRUE(verifier->poll());
  verifier->promote();
  for (const char* source : {"honest", "faster"}) submit(source);
  ASSERT_TRUE(verifier->poll());
  submit("zeros");
  log.clear();
  ASSERT_TRUE(verifier->poll());
  EXPECT_THAT(log, ElementsAre("checked", "timed", "checked", "build zeros", "checked"))
      << "screened, timed, proved; and the next one screened";
}

TEST_F(LocalVerifierTest, needs_no_order_of_checks_and_build) {
  open(backwards);
  for (const char* source : {"honest", "faster"}) submit(source);
  ASSERT_TRUE(verifier->poll());
  EXPECT_THAT(log, ElementsAre("build honest", "build faster", "checked", "timed"));
  const auto faster = verifier->poll();
  ASSERT_TRUE(faster.has_value());
  EXPECT_TRUE(faster->verdict.accepted()) << faster->verdict.message;
}

TEST_F(LocalVerifierTest, times_a_candidate_against_the_best_of_those_before_it) {
  open();
  submit("honest");
  submit("faster");
  const auto first = verifier->poll();
  ASSERT_TRUE(first && first->verdict.accepted());
  verifier->promote();
  const auto second = verifier->poll();
  ASSERT_TRUE(second && second->measurement);
  ASSERT_EQ(second->measurement->versus.size(), 1U);
  EXPECT_EQ(second->measurement->versus[0].decision, Comparison::faster);
  EXPECT_NEAR(second->measurement->versus[0].speedup, 2.0, 0.1);
}

TEST_F(LocalVerifierTest, counts_device_time_for_each_candidate) {
  open();
  const double before = verifier->device_seconds();
  submit("honest");
  submit("faster");
  const auto first = verifier->poll();
  const auto second = verifier->poll();
  ASSERT_TRUE(first && second);
  EXPECT_GT(first->device_seconds, second->device_seconds);
  EXPECT_NEAR(verifier->device_seconds() - before, first->device_seconds + second->device_seconds, 1e-12);
}

TEST_F(LocalVerifierTest, lets_a_budget_run_from_submission) {
  open();
  submit("honest");
  submit("faster", std::chrono::milliseconds(150));
  const auto first = verifier->poll();
  ASSERT_TRUE(first && first->verdict.accepted());
  const auto second = verifier->poll();
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(second->verdict.status, VerdictStatus::unverified);
  EXPECT_THAT(second->verdict.message, HasSubstr("the budget ended"));
}

TEST_F(LocalVerifierTest, gives_up_what_is_in_flight) {
  open();
  submit("honest");
  submit("faster");
  verifier->cancel();
  EXPECT_EQ(verifier->in_flight(), 0U);
  EXPECT_FALSE(verifier->poll().has_value());
  EXPECT_TRUE(log.empty());
  EXPECT_EQ(submit("honest"), 2) << "a ticket is given once";
  EXPECT_EQ(verifier->poll()->ticket, 2);
}

TEST_F(LocalVerifierTest, does_not_judge_a_candidate_of_another_problem_or_suite) {
  open();
  VerifyRequest other_suite = verifier->request_for(small_candidate("honest"), std::nullopt);
  ++other_suite.suite_seed;
  VerifyRequest other_problem = verifier->request_for(small_candidate("honest"), std::nullopt);
  other_problem.problem_id = hash_bytes("another");
  for (const auto& request : {other_suite, other_problem}) {
    verifier->submit(request);
    const auto result = verifier->poll();
    ASSERT_TRUE(result.has_value());
    EXPECT_EQ(result->verdict.status, VerdictStatus::unverified);
    EXPECT_EQ(result->verdict.message, "this verifier was opened for another problem or suite");
  }
  EXPECT_TRUE(log.empty()) << "nothing was built or run";
}

TEST_F(LocalVerifierTest, says_what_every_candidate_is_checked_on) {
  open();
  const CheckedCases checked = verifier->checked();
  EXPECT_THAT(checked.workloads, ::testing::UnorderedElementsAre("primary", "odd", "gqa"));
  EXPECT_EQ(checked.left_out, 0U);
}

}  // namespace
}  // namespace kw

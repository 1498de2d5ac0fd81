// While a would-be best is proved, those behind it are built and the next one is screened. That saves time and may
// change no verdict.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "verify/local_verifier.hpp"
#include "verify/state/measure_state.hpp"
#include "verify/testing/fake_backend.hpp"
#include "verify/testing/test_problem.hpp"
#include "verify/tools/sanitizer.hpp"

namespace kw {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

/// Finds something in the kernels whose sources are named.
class NamingSanitizer final : public Sanitizer {
 public:
  [[nodiscard]] std::string name() const override { return "naming"; }
  [[nodiscard]] SanitizerReach reach() const override { return {1e12, 1e12, 1e12, std::int64_t{1} << 28}; }
  std::vector<Sanitized> run(const RunFacts&, const LoadedCandidate& loaded, const SanitizerWork& work,
                             StepClock&) override {
    if (work.workloads.empty()) return {};
    asked.push_back(loaded.candidate.bundle.source);
    if (on_run) on_run();
    Sanitized result{work.workloads.front(), std::nullopt, "a note", true};
    if (guilty.contains(asked.back())) result.finding = SanitizerFinding{"Invalid write", false};
    return {result};
  }
  std::set<std::string> guilty;
  std::vector<std::string> asked;
  std::function<void()> on_run;
};

class ProvingAheadTest : public ::testing::Test {
 protected:
  ProvingAheadTest() {
    const auto kernel = [](FakeBehaviour behaviour, double time_ns) {
      return FakeKernel{behaviour, time_ns, 0.005, BuildStatus::ok, "", false};
    };
    kernels["plain"] = kernel(FakeBehaviour::honest, 10e6);
    kernels["first"] = kernel(FakeBehaviour::honest, 2e6);
    kernels["faster"] = kernel(FakeBehaviour::honest, 1e6);
    kernels["slower"] = kernel(FakeBehaviour::honest, 4e6);
    kernels["wrong"] = kernel(FakeBehaviour::writes_zeros, 0.5e6);
    kernels["restless"] = kernel(FakeBehaviour::differs_each_run, 0.5e6);
  }

  /// `first` is expected to be submitted first; empty: nothing is.
  void open(const std::string& first = "") {
    VerifierOptions options;
    options.secret_seed = 7;
    options.device = backend.device();
    options.plain = small_candidate("plain");
    options.screen = true;
    if (!first.empty()) options.first = small_candidate(first);
    options.tools.sanitizers = {&sanitizer};
    options.beside = [this](const std::function<void()>& here, const std::function<void()>& beside) {
      ++besides;
      serial_beside(here, beside);
    };
    options.start = [this](std::function<void()> work) {
      ++started;
      return start_later(std::move(work));
    };
    auto opened = LocalVerifier::open(problem, backend, clock, std::move(options));
    ASSERT_TRUE(opened) << opened.error().to_string();
    verifier = *std::move(opened);
  }

  void submit(const std::string& source) {
    verifier->submit(verifier->request_for(small_candidate(source), std::nullopt));
  }
  /// The next result; what was accepted as the best becomes it.
  VerifyResult next() {
    auto result = verifier->poll();
    EXPECT_TRUE(result.has_value());
    const bool best = result->verdict.accepted() && result->measurement && becomes_best(*result->measurement);
    if (best) verifier->promote();
    return *std::move(result);
  }

  Problem problem = small_problem();
  FakeClock clock;
  std::map<std::string, FakeKernel> kernels;
  FakeBackend backend{problem, clock,
                      [this](const BuildRequest& request) { return kernels.at(written_source(request)); }};
  NamingSanitizer sanitizer;
  int besides = 0;
  int started = 0;  ///< pieces of work that nobody waits for at once
  std::unique_ptr<LocalVerifier> verifier;
};

TEST_F(ProvingAheadTest, builds_and_screens_the_next_beside_the_sanitizers_of_a_would_be_best) {
  open();
  submit("first");
  ASSERT_TRUE(next().verdict.accepted());
  for (const char* source : {"faster", "slower", "wrong"}) submit(source);
  const auto faster = next();
  ASSERT_TRUE(faster.verdict.accepted()) << faster.verdict.message;
  const int builds = backend.builds(), starts = backend.starts();
  const auto slower = next();
  EXPECT_EQ(slower.verdict.status, VerdictStatus::screened);
  EXPECT_THAT(slower.verdict.gates_passed, ElementsAre(GateId::read, GateId::build, GateId::static_check,
                                                       GateId::screen, GateId::time, GateId::profile));
  EXPECT_EQ(slower.measurement->versus.front().decision, Comparison::slower) << "than the new best";
  EXPECT_EQ(backend.starts(), starts) << "it was screened before";
  const auto wrong = next();
  EXPECT_EQ(wrong.verdict.failed_gate, GateId::screen);
  EXPECT_EQ(backend.builds(), builds) << "all had been built";
}

TEST_F(ProvingAheadTest, gives_the_verdicts_and_the_order_that_one_at_a_time_gets) {
  const std::vector<std::string> sources = {"slower", "wrong", "first", "restless", "faster", "slower"};
  const auto verdicts = [&](std::size_t in_flight) {
    open();
    std::vector<std::string> all;
    std::size_t submitted = 0;
    while (all.size() < sources.size()) {
      while (submitted < sources.size() && verifier->in_flight() < in_flight) submit(sources[submitted++]);
      const auto result = next();
      all.push_back(fmt::format("{}: {} {}", sources[static_cast<std::size_t>(result.ticket)],
                                to_string(result.verdict.status), to_string(result.verdict.reason)));
    }
    return all;
  };
  const auto alone = verdicts(1);
  EXPECT_EQ(verdicts(2), alone);
  EXPECT_EQ(verdicts(4), alone);
  EXPECT_EQ(started, 0) << "compilers disturb the times of a processor";
  backend.mutable_device().kind = DeviceKind::gpu;
  const auto alone_on_gpu = verdicts(1);
  const int for_one = started;
  EXPECT_EQ(verdicts(4), alone_on_gpu);
  EXPECT_GT(started, 2 * for_one) << "besides the ends of processes and data";
}

TEST_F(ProvingAheadTest, builds_for_a_gpu_as_soon_as_there_is_a_candidate) {
  backend.mutable_device().kind = DeviceKind::gpu;
  open();
  int before = started;
  for (const char* source : {"first", "faster", "slower"}) submit(source);
  EXPECT_EQ(started, before) << "the check of the first has all cores";
  ASSERT_TRUE(next().verdict.accepted());
  EXPECT_EQ(started - before, 2 + 10) << "the two behind it, and the next data of ten launches";
  before = started;
  submit("wrong");
  EXPECT_EQ(started, before + 1);
  verifier->cancel();
  EXPECT_EQ(verifier->in_flight(), 0U);
}

TEST_F(ProvingAheadTest, builds_two_for_a_gpu_until_there_is_a_first_best) {
  backend.mutable_device().kind = DeviceKind::gpu;
  open();
  for (const char* source : {"first", "faster", "slower", "wrong", "restless"}) submit(source);
  const int before = started, builds = backend.builds();
  ASSERT_TRUE(next().verdict.accepted());
  EXPECT_EQ(started - before, 2 + 10) << "two, and the next data of ten launches";
  const int built = backend.builds();
  EXPECT_LE(built - builds, static_cast<int>(problem.workloads.size()) + 2) << "nothing else beside the proof";
  const int had = started;
  submit("slower");
  EXPECT_EQ(started - had, 2 + 1) << "the others, and the new one";
  EXPECT_EQ(next().verdict.status, VerdictStatus::accepted);
  EXPECT_EQ(next().verdict.status, VerdictStatus::screened);
}

TEST_F(ProvingAheadTest, builds_all_for_a_gpu_once_the_first_is_rejected) {
  backend.mutable_device().kind = DeviceKind::gpu;
  open();
  for (const char* source : {"wrong", "faster", "slower", "first"}) submit(source);
  EXPECT_EQ(next().verdict.failed_gate, GateId::check);
  const int had = started;
  submit("slower");
  EXPECT_EQ(started - had, 1 + 1) << "the third behind it, and the new one";
}

TEST_F(ProvingAheadTest, what_was_screened_ahead_of_a_best_that_fails_is_checked_on_everything) {
  open();
  sanitizer.guilty = {"first"};
  submit("first");
  submit("restless");
  submit("faster");
  const auto first = next();
  EXPECT_EQ(first.verdict.failed_gate, GateId::sanitize);
  const auto restless = next();
  EXPECT_EQ(restless.verdict.status, VerdictStatus::rejected) << "one run, as of a screening, shows nothing";
  EXPECT_EQ(restless.verdict.failed_gate, GateId::check);
  const auto faster = next();
  ASSERT_TRUE(faster.verdict.accepted()) << faster.verdict.message;
  EXPECT_THAT(faster.verdict.gates_passed, Contains(GateId::check));
  EXPECT_THAT(faster.verdict.gates_passed, Contains(GateId::sanitize));
}

TEST_F(ProvingAheadTest, asks_no_sanitizer_about_what_is_screened_out) {
  open();
  for (const char* source : {"first", "slower", "wrong", "restless", "faster"}) submit(source);
  while (verifier->in_flight() > 0) (void)next();
  EXPECT_THAT(sanitizer.asked, ElementsAre("first", "faster"));
}

TEST_F(ProvingAheadTest, does_nothing_beside_a_timed_launch) {
  open();
  submit("first");
  submit("slower");
  const int before = besides;
  int builds_when_asked = -1;
  sanitizer.on_run = [&] { builds_when_asked = backend.builds(); };
  const int builds_before = backend.builds();
  ASSERT_TRUE(next().verdict.accepted());
  EXPECT_EQ(builds_when_asked - builds_before, 1) << "a first verified kernel comes before anything else";
  EXPECT_EQ(backend.builds() - builds_before, 2);
  EXPECT_EQ(besides - before, 1) << "its proof, and neither its checks nor the time between them";
}

TEST_F(ProvingAheadTest, builds_what_is_expected_first_beside_the_opening_on_a_gpu) {
  open("first");
  const int without = backend.builds();
  submit("first");
  ASSERT_TRUE(next().verdict.accepted());
  EXPECT_GT(backend.builds(), without) << "of a processor all cores open";
  backend.mutable_device().kind = DeviceKind::gpu;
  for (const std::string submitted : {"first", "faster", "wrong"}) {
    SCOPED_TRACE(submitted);
    open("first");
    submit(submitted);
    const int builds = backend.builds();
    const auto result = next();
    EXPECT_EQ(result.verdict.accepted(), submitted != "wrong") << result.verdict.message;
    EXPECT_EQ(backend.builds() == builds, submitted == "first");
  }
}

TEST_F(ProvingAheadTest, what_is_expected_first_and_does_not_compile_is_rejected_when_it_comes) {
  backend.mutable_device().kind = DeviceKind::gpu;
  kernels["broken"] = FakeKernel{FakeBehaviour::honest, 1e6, 0.005, BuildStatus::source_error, "error: no", false};
  open("broken");
  submit("broken");
  EXPECT_EQ(next().verdict.reason, Reason::build_failed);
  submit("first");
  EXPECT_TRUE(next().verdict.accepted());
}

TEST_F(ProvingAheadTest, sanitizes_the_first_beside_its_check_on_a_gpu) {
  backend.mutable_device().kind = DeviceKind::gpu;
  open();
  for (const char* source : {"first", "faster"}) submit(source);
  const int before = besides;
  const auto first = next();
  ASSERT_TRUE(first.verdict.accepted()) << first.verdict.message;
  EXPECT_THAT(first.verdict.gates_passed, ElementsAre(GateId::read, GateId::build, GateId::static_check, GateId::check,
                                                      GateId::time, GateId::sanitize, GateId::profile));
  EXPECT_THAT(sanitizer.asked, ElementsAre("first")) << "once";
  EXPECT_GT(besides, before);
  ASSERT_TRUE(next().verdict.accepted());
  EXPECT_THAT(sanitizer.asked, ElementsAre("first", "faster"));
}

TEST_F(ProvingAheadTest, sanitizes_no_other_before_it_was_timed) {
  kernels["cold"] = FakeKernel{FakeBehaviour::wrong_when_cold, 1e6, 0.005, BuildStatus::ok, "", false};
  const auto asked_about = [&](const std::vector<std::string>& sources) {
    open();
    sanitizer.asked.clear();
    for (const std::string& source : sources) {
      submit(source);
      (void)next();
    }
    return sanitizer.asked;
  };
  EXPECT_THAT(asked_about({"cold"}), ElementsAre()) << "a processor has no cores for it";
  backend.mutable_device().kind = DeviceKind::gpu;
  EXPECT_THAT(asked_about({"cold"}), ElementsAre("cold"));
  EXPECT_THAT(asked_about({"first", "cold"}), ElementsAre("first"));
}

TEST_F(ProvingAheadTest, what_was_sanitized_beside_its_check_is_judged_in_the_order_of_the_gates) {
  backend.mutable_device().kind = DeviceKind::gpu;
  for (const std::string source : {"first", "wrong"}) {
    open();
    sanitizer.guilty = {source};
    submit(source);
    EXPECT_EQ(next().verdict.failed_gate, source == "wrong" ? GateId::check : GateId::sanitize);
  }
}

TEST_F(ProvingAheadTest, launches_one_kernel_at_a_time_on_a_gpu) {
  backend.mutable_device().kind = DeviceKind::gpu;
  open();
  submit("first");
  ASSERT_TRUE(next().verdict.accepted());
  submit("faster");
  submit("slower");
  const auto faster = next();
  ASSERT_TRUE(faster.verdict.accepted()) << faster.verdict.message;
  const int starts = backend.starts();
  EXPECT_EQ(next().verdict.status, VerdictStatus::screened);
  EXPECT_EQ(backend.starts(), starts + 1) << "it was not launched before its turn";
}

}  // namespace
}  // namespace kw

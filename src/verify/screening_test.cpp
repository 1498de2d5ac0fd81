// Screening may only save work: what the whole check would refuse never becomes the best.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "verify/local_verifier.hpp"
#include "verify/state/measure_state.hpp"
#include "verify/testing/fake_backend.hpp"
#include "verify/testing/scripted_tools.hpp"
#include "verify/testing/test_problem.hpp"

namespace kw {
namespace {

using ::testing::Contains;
using ::testing::Not;

FakeKernel kernel_of(FakeBehaviour behaviour, double time_ns) {
  return FakeKernel{behaviour, time_ns, 0.005, BuildStatus::ok, "", false};
}

/// As small_problem, with a workload of another size of heads: bundles that define it need a second build.
Problem problem_of_two_builds() {
  Problem problem = small_problem();
  problem.workloads.push_back(problem.workloads.back());
  problem.workloads.back().name = "other_head_size";
  problem.workloads.back().axes["D"] = 4;
  problem.workloads.back().axes["Dv"] = 4;
  return problem;
}

Candidate candidate_of_two_builds(const std::string& source) {
  Bundle bundle = small_candidate(source).bundle;
  bundle.defines = {{"HEAD_DIM", "D"}};
  return make_candidate(std::move(bundle)).value();
}

class ScreeningTest : public ::testing::Test {
 protected:
  ScreeningTest() {
    kernels["plain"] = kernel_of(FakeBehaviour::honest, 10e6);
    kernels["champion"] = kernel_of(FakeBehaviour::honest, 2e6);
    kernels["slower"] = kernel_of(FakeBehaviour::honest, 3e6);
    kernels["faster"] = kernel_of(FakeBehaviour::honest, 1e6);
  }

  /// With the honest champion of 2 ms, if asked for.
  void open(bool champion = true) {
    VerifierOptions options;
    options.secret_seed = 7;
    options.device = backend.device();
    options.plain = candidate_of_two_builds("plain");
    options.screen = true;
    options.tools.profiler = &profiler;
    auto opened = LocalVerifier::open(problem, backend, clock, std::move(options));
    ASSERT_TRUE(opened) << opened.error().to_string();
    verifier = *std::move(opened);
    if (!champion) return;
    ASSERT_TRUE(verify("champion").verdict.accepted());
    verifier->promote();
  }

  VerifyResult verify(const std::string& source) { return verifier->verify(candidate_of_two_builds(source)); }

  Problem problem = problem_of_two_builds();
  FakeClock clock;
  std::map<std::string, FakeKernel> kernels;
  FakeBackend backend{problem, clock,
                      [this](const BuildRequest& request) { return kernels.at(written_source(request)); }};
  ScriptedProfiler profiler;
  std::unique_ptr<LocalVerifier> verifier;
};

TEST_F(ScreeningTest, calls_what_is_not_faster_screened_and_not_verified) {
  open();
  const int builds_before = backend.builds();
  const auto slower = verify("slower");
  EXPECT_EQ(slower.verdict.status, VerdictStatus::screened);
  EXPECT_FALSE(slower.verdict.accepted());
  EXPECT_THAT(slower.verdict.gates_passed, Contains(GateId::screen));
  EXPECT_THAT(slower.verdict.gates_passed, Not(Contains(GateId::check)));
  ASSERT_TRUE(slower.measurement.has_value()) << "a search goes by its time";
  EXPECT_LT(slower.accuracy.size(), verifier->suite().cases().size());
  EXPECT_EQ(backend.builds() - builds_before, 1) << "the primary's";
}

TEST_F(ScreeningTest, proves_what_would_become_the_best_on_everything) {
  open();
  const int builds_before = backend.builds();
  const auto faster = verify("faster");
  EXPECT_TRUE(faster.verdict.accepted()) << faster.verdict.message;
  EXPECT_THAT(faster.verdict.gates_passed,
              ::testing::ElementsAre(GateId::read, GateId::build, GateId::static_check, GateId::screen, GateId::time,
                                     GateId::check, GateId::profile));
  EXPECT_EQ(faster.accuracy.size(), verifier->suite().cases().size());
  EXPECT_EQ(backend.builds() - builds_before, 2);
  verifier->promote();
  EXPECT_TRUE(verifier->final_measurement(1, [](Duration) { return true; }));
}

/// How often the profiler ran for a first best with so many floats of scratch memory, so long after the opening.
int profiled(LocalVerifier& verifier, FakeClock& clock, ScriptedProfiler& profiler, const std::string& floats,
             std::chrono::seconds later) {
  profiler.runs = 0;
  clock.advance(later);
  Bundle bundle = candidate_of_two_builds("champion").bundle;
  bundle.scratch = {{"parts", DType::f32, floats}};
  EXPECT_TRUE(verifier.verify(make_candidate(std::move(bundle)).value()).verdict.accepted());
  return profiler.runs;
}

/// Three seconds, and 6 ns for each of 40 MB.
TEST_F(ScreeningTest, counts_in_hardware_where_that_takes_a_tenth_of_the_time) {
  profiler.answer = HardwareCounters{};
  open(false);
  EXPECT_EQ(profiled(*verifier, clock, profiler, "1000", std::chrono::seconds(25)), 0);
  open(false);
  EXPECT_EQ(profiled(*verifier, clock, profiler, "1000", std::chrono::seconds(35)), 1);
  open(false);
  EXPECT_EQ(profiled(*verifier, clock, profiler, "10000000", std::chrono::seconds(31)), 0);
  open(false);
  EXPECT_EQ(profiled(*verifier, clock, profiler, "10000000", std::chrono::seconds(40)), 1);
}

/// At the end, too, but for what takes five seconds at most.
TEST_F(ScreeningTest, counts_at_the_end_in_hardware_where_that_is_short) {
  profiler.answer = HardwareCounters{};
  const auto counted_at_the_end = [&](const std::string& floats) {
    open(false);
    EXPECT_EQ(profiled(*verifier, clock, profiler, floats, std::chrono::seconds(1)), 0);
    verifier->promote();
    const auto last = verifier->final_measurement(1, [](Duration) { return true; });
    return last && last->counters;
  };
  EXPECT_TRUE(counted_at_the_end("1000"));
  EXPECT_FALSE(counted_at_the_end("100000000"));
}

TEST(ProfilingTime, grows_with_the_buffers_and_the_launch) {
  LaunchPlan plan;
  EXPECT_EQ(profiling_time(plan, 0), Duration(std::chrono::seconds(3)));
  plan.buffers = {{"Q", BufferRole::input, DType::f32, 1'000'000'000},
                  {"O", BufferRole::output, DType::f32, 500'000'000}};
  EXPECT_EQ(profiling_time(plan, 100e6), Duration(std::chrono::seconds(16)));
}

TEST(ProfilingTime, grows_with_the_number_of_launches) {
  LaunchPlan plan;
  plan.launches.resize(1);
  EXPECT_EQ(profiling_time(plan, 0), Duration(std::chrono::seconds(3)));
  plan.launches.resize(121);
  EXPECT_EQ(profiling_time(plan, 0), Duration(std::chrono::seconds(43)));
}

TEST_F(ScreeningTest, checks_the_first_on_everything_before_it_is_timed) {
  open(false);
  const auto first = verify("champion");
  EXPECT_THAT(first.verdict.gates_passed, ::testing::ElementsAre(GateId::read, GateId::build, GateId::static_check,
                                                                 GateId::check, GateId::time, GateId::profile));
}

TEST_F(ScreeningTest, rejects_what_builds_for_the_primary_alone) {
  open();
  // The second request of this source is that for the other size.
  int requests = 0;
  FakeBackend fickle(problem, clock, [&](const BuildRequest& request) {
    FakeKernel kernel = kernels.at(written_source(request));
    if (written_source(request) == "faster" && requests++ > 0) kernel.build = BuildStatus::source_error;
    return kernel;
  });
  VerifierOptions options;
  options.device = fickle.device();
  options.plain = candidate_of_two_builds("plain");
  options.screen = true;
  auto opened = LocalVerifier::open(problem, fickle, clock, std::move(options));
  ASSERT_TRUE(opened) << opened.error().to_string();
  ASSERT_TRUE((*opened)->verify(candidate_of_two_builds("champion")).verdict.accepted());
  (*opened)->promote();
  const auto result = (*opened)->verify(candidate_of_two_builds("faster"));
  EXPECT_EQ(result.verdict.status, VerdictStatus::rejected);
  EXPECT_EQ(result.verdict.failed_gate, GateId::build);
  EXPECT_THAT(result.verdict.gates_passed, Not(Contains(GateId::build)));
  EXPECT_FALSE(result.measurement.has_value());
}

TEST_F(ScreeningTest, builds_all_that_wait_at_the_same_time) {
  open();
  const int builds_before = backend.builds();
  for (int i = 0; i < 2; ++i) verifier->submit(verifier->request_for(candidate_of_two_builds("slower"), std::nullopt));
  ASSERT_TRUE(verifier->poll());
  EXPECT_EQ(backend.builds() - builds_before, 2);
  ASSERT_TRUE(verifier->poll());
  EXPECT_EQ(backend.builds() - builds_before, 2) << "each once";
}

class ScreenedConductTest : public ScreeningTest, public ::testing::WithParamInterface<FakeBehaviour> {};

TEST_P(ScreenedConductTest, does_not_become_the_best_though_it_is_faster) {
  kernels["suspect"] = kernel_of(GetParam(), 0.5e6);
  open();
  const auto result = verify("suspect");
  EXPECT_EQ(result.verdict.status, VerdictStatus::rejected) << result.verdict.message;
  EXPECT_FALSE(result.measurement.has_value());
}

INSTANTIATE_TEST_SUITE_P(Verifier, ScreenedConductTest,
                         ::testing::Values(FakeBehaviour::writes_zeros, FakeBehaviour::writes_nothing,
                                           FakeBehaviour::copies_input, FakeBehaviour::last_row_wrong,
                                           FakeBehaviour::right_on_primary_only, FakeBehaviour::shifted_on_primary,
                                           FakeBehaviour::modifies_input, FakeBehaviour::writes_guard,
                                           FakeBehaviour::differs_each_run, FakeBehaviour::wrong_when_cold,
                                           FakeBehaviour::low_precision, FakeBehaviour::lies_about_time,
                                           FakeBehaviour::hangs, FakeBehaviour::crashes, FakeBehaviour::eats_memory));

/// A candidate that became no champion must not keep the next best from its proof.
TEST(MeasureState, takes_for_proved_what_is_faster_by_the_rule_alone) {
  const auto measured = [](Comparison decision, double speedup) {
    Measurement measurement;
    measurement.versus.push_back({"incumbent", decision, speedup, {}, 10, 0});
    return measurement;
  };
  MeasureState state{{}, {}, {}, Rng(1), {nullptr, {}}};
  state.note_proved(measured(Comparison::undecided, 1.5));
  EXPECT_TRUE(state.would_be_best(measured(Comparison::faster, 1.1)));
  state.note_proved(measured(Comparison::faster, 1.1));
  EXPECT_FALSE(state.would_be_best(measured(Comparison::faster, 1.05)));
  EXPECT_FALSE(state.would_be_best(measured(Comparison::undecided, 1.2)));
  EXPECT_TRUE(state.would_be_best(measured(Comparison::faster, 1.2)));
}

}  // namespace
}  // namespace kw

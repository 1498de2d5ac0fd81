#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "verify/baseline_opening.hpp"
#include "verify/local_verifier.hpp"
#include "verify/testing/fake_backend.hpp"
#include "verify/testing/scripted_tools.hpp"
#include "verify/testing/test_problem.hpp"
#include "verify/testing/verifier_fixture.hpp"

namespace kw {
namespace {

struct ConductCase {
  const char* name;
  FakeBehaviour behaviour;
  GateId gate;
  Reason reason;
};

void PrintTo(const ConductCase& tested, std::ostream* out) {
  *out << tested.name;
}

class ConductTest : public VerifierTest, public ::testing::WithParamInterface<ConductCase> {};

TEST_P(ConductTest, is_stopped_by_its_gate_for_its_reason) {
  kernels["suspect"] = FakeKernel{GetParam().behaviour, 2e6, 0.005, BuildStatus::ok, "", false};
  open();
  const auto result = verify("suspect");
  EXPECT_EQ(result.verdict.status, VerdictStatus::rejected);
  EXPECT_EQ(result.verdict.failed_gate, GetParam().gate) << result.verdict.message;
  EXPECT_EQ(to_string(result.verdict.reason), to_string(GetParam().reason)) << result.verdict.message;
  EXPECT_FALSE(result.measurement.has_value()) << "a rejected candidate has no time";
}

INSTANTIATE_TEST_SUITE_P(
    Verifier, ConductTest,
    ::testing::Values(
        ConductCase{"writes_zeros", FakeBehaviour::writes_zeros, GateId::check, Reason::wrong_result},
        ConductCase{"writes_nothing", FakeBehaviour::writes_nothing, GateId::check, Reason::output_unwritten},
        ConductCase{"copies_input", FakeBehaviour::copies_input, GateId::check, Reason::wrong_result},
        ConductCase{"last_row_wrong", FakeBehaviour::last_row_wrong, GateId::check, Reason::wrong_result},
        ConductCase{"right_on_primary_only", FakeBehaviour::right_on_primary_only, GateId::check, Reason::wrong_result},
        ConductCase{"shifted_on_primary", FakeBehaviour::shifted_on_primary, GateId::check, Reason::wrong_result},
        ConductCase{"modifies_input", FakeBehaviour::modifies_input, GateId::check, Reason::input_modified},
        ConductCase{"writes_guard", FakeBehaviour::writes_guard, GateId::check, Reason::guard_overwritten},
        ConductCase{"differs_each_run", FakeBehaviour::differs_each_run, GateId::check, Reason::nondeterministic},
        ConductCase{"low_precision", FakeBehaviour::low_precision, GateId::check, Reason::wrong_result},
        ConductCase{"hangs", FakeBehaviour::hangs, GateId::check, Reason::timeout},
        ConductCase{"crashes", FakeBehaviour::crashes, GateId::check, Reason::crashed},
        ConductCase{"eats_memory", FakeBehaviour::eats_memory, GateId::check, Reason::memory_limit},
        ConductCase{"wrong_when_cold", FakeBehaviour::wrong_when_cold, GateId::time, Reason::wrong_when_timed},
        ConductCase{"lies_about_time", FakeBehaviour::lies_about_time, GateId::time, Reason::clock_mismatch}),
    [](const auto& tested) { return std::string(tested.param.name); });

TEST_F(VerifierTest, accepts_an_honest_kernel_with_its_time_and_evidence) {
  open();
  const auto result = verify("honest");
  ASSERT_TRUE(result.verdict.accepted()) << result.verdict.message;
  ASSERT_TRUE(result.measurement.has_value());
  EXPECT_NEAR(result.measurement->median_ns, 2e6, 0.05e6);
  EXPECT_LE(result.measurement->ci_ns.low, result.measurement->median_ns);
  EXPECT_GE(result.measurement->ci_ns.high, result.measurement->median_ns);
  EXPECT_EQ(result.accuracy.size(), verifier->suite().cases().size());
  EXPECT_EQ(result.verdict.gates_passed.back(), GateId::profile);
  EXPECT_GT(result.device_seconds, 0);
}

TEST_F(VerifierTest, gives_nothing_for_answers_that_a_kernel_remembers) {
  kernels["replaying"] = FakeKernel{FakeBehaviour::replays, 2e6, 0.005, BuildStatus::ok, "", false};
  open();
  const auto result = verify("replaying");
  ASSERT_TRUE(result.measurement.has_value()) << result.verdict.message;
  EXPECT_NEAR(result.measurement->median_ns, 2e6, 0.05e6) << "no timed launch may have data that it has seen";
}

TEST_F(VerifierTest, believes_the_host_s_clock_where_a_kernel_shares_its_process) {
  backend.mutable_device().kind = DeviceKind::cpu;
  kernels["shaving"] = FakeKernel{FakeBehaviour::shaves_time, 2e6, 0, BuildStatus::ok, "", false};
  open();
  const auto result = verify("shaving");
  ASSERT_TRUE(result.measurement.has_value()) << result.verdict.message;
  EXPECT_NEAR(result.measurement->median_ns, 2e6, 1e3);
}

TEST_F(VerifierTest, reports_no_final_time_that_the_clock_contradicts) {
  kernels["lying_later"] = FakeKernel{FakeBehaviour::honest, 2e6, 0.005, BuildStatus::ok, "", false, -1, 1};
  open();
  ASSERT_TRUE(verify("lying_later").verdict.accepted());
  verifier->promote();
  const auto last = verifier->final_measurement(3, [](Duration) { return true; });
  ASSERT_FALSE(last);
  EXPECT_THAT(last.error().message, ::testing::HasSubstr("the best kernel's final time cannot be believed: the process "
                                                         "claims 2"));
}

HardwareCounters counters() {
  HardwareCounters counted;
  counted.tool = "a profiler";
  return counted;
}

std::string evidence_of(const VerifyResult& result, GateId gate) {
  std::string text;
  for (const auto& evidence : result.verdict.evidence) {
    if (evidence.gate == gate) text += evidence.text + "\n";
  }
  return text;
}

TEST_F(VerifierTest, does_not_call_sanitized_what_no_tool_has_looked_at) {
  open();
  const auto result = verify("honest");
  EXPECT_TRUE(result.verdict.accepted());
  EXPECT_THAT(result.verdict.gates_passed, ::testing::Not(::testing::Contains(GateId::sanitize)));
  EXPECT_THAT(evidence_of(result, GateId::sanitize), ::testing::HasSubstr("not sanitized: this machine has no tool"));
}

TEST_F(VerifierTest, records_what_a_profiler_counts_of_a_would_be_best) {
  ScriptedProfiler profiler;
  profiler.answer = counters();
  tools.profiler = &profiler;
  open();
  const auto best = verify("honest");
  ASSERT_TRUE(best.measurement && best.measurement->counters);
  EXPECT_EQ(best.measurement->counters->tool, "a profiler");
  verifier->promote();
  const auto last = verifier->final_measurement(1, [](Duration) { return true; });
  ASSERT_TRUE(last) << last.error().to_string();
  EXPECT_TRUE(last->counters);
  EXPECT_EQ(profiler.runs, 2);
}

TEST_F(VerifierTest, says_once_why_nothing_is_counted_and_does_not_ask_again) {
  kernels["faster"] = FakeKernel{FakeBehaviour::honest, 1e6, 0.005, BuildStatus::ok, "", false};
  ScriptedProfiler profiler;
  profiler.answer = "a permission is missing";
  tools.profiler = &profiler;
  open();
  const auto first = verify("honest");
  EXPECT_TRUE(first.verdict.accepted());
  EXPECT_THAT(evidence_of(first, GateId::profile),
              ::testing::HasSubstr("no hardware counters, the compiler's figures stand in: a permission is missing"));
  verifier->promote();
  EXPECT_THAT(evidence_of(verify("faster"), GateId::profile), ::testing::Not(::testing::HasSubstr("permission")));
  EXPECT_EQ(profiler.runs, 1);
}

TEST_F(VerifierTest, compares_with_the_incumbent_once_there_is_one) {
  kernels["faster"] = FakeKernel{FakeBehaviour::honest, 1e6, 0.005, BuildStatus::ok, "", false};
  kernels["slower"] = FakeKernel{FakeBehaviour::honest, 8e6, 0.005, BuildStatus::ok, "", false};
  open();
  ASSERT_TRUE(verify("honest").verdict.accepted());
  verifier->promote();
  const auto faster = verify("faster");
  ASSERT_TRUE(faster.measurement.has_value());
  EXPECT_EQ(faster.measurement->versus.at(0).decision, Comparison::faster);
  EXPECT_NEAR(faster.measurement->versus.at(0).speedup, 2.0, 0.1);
  const auto slower = verify("slower");
  ASSERT_TRUE(slower.measurement.has_value());
  EXPECT_EQ(slower.measurement->versus.at(0).decision, Comparison::slower);
  EXPECT_TRUE(slower.measurement->stopped_early);
  EXPECT_LT(slower.measurement->samples, 10);
}

TEST_F(VerifierTest, starts_the_incumbent_again_when_its_process_was_killed) {
  kernels["faster"] = FakeKernel{FakeBehaviour::honest, 1e6, 0.005, BuildStatus::ok, "", false};
  open();
  ASSERT_TRUE(verify("honest").verdict.accepted());
  verifier->promote();
  backend.kill_started();
  const auto faster = verify("faster");
  ASSERT_TRUE(faster.verdict.accepted()) << faster.verdict.message;
  ASSERT_TRUE(faster.measurement.has_value());
  EXPECT_EQ(faster.measurement->versus.at(0).decision, Comparison::faster);
  EXPECT_NEAR(faster.measurement->versus.at(0).speedup, 2.0, 0.1);
}

TEST_F(VerifierTest, starts_an_incumbent_that_fails_again_once_for_each_candidate) {
  kernels["faster"] = FakeKernel{FakeBehaviour::honest, 1e6, 0.005, BuildStatus::ok, "", false};
  kernels["honest"].crashes_from_process = 1;
  open();
  ASSERT_TRUE(verify("honest").verdict.accepted());
  verifier->promote();
  backend.kill_started();
  const int before = backend.starts();
  const auto faster = verify("faster");
  EXPECT_EQ(faster.verdict.status, VerdictStatus::unverified);
  EXPECT_THAT(faster.verdict.message,
              testing::HasSubstr("the incumbent failed while being timed against: the process running"));
  EXPECT_EQ(backend.starts(), before + 2) << "the candidate's and one more of the incumbent";
}

TEST_F(VerifierTest, rejects_what_is_faster_than_the_device_can_be) {
  backend.mutable_device().peak_f32_flops = 1e9;
  backend.mutable_device().peak_bytes = 1e6;  // the bound is about 5 ms
  open();
  const auto result = verify("honest");
  EXPECT_EQ(result.verdict.failed_gate, GateId::time);
  EXPECT_EQ(result.verdict.reason, Reason::above_roofline) << result.verdict.message;
}

TEST_F(VerifierTest, computes_the_cost_of_each_workload_once) {
  std::map<std::string, int> computed;
  ScriptedSanitizer sanitizer;
  VerifierOptions options;
  options.secret_seed = 7;
  options.device = backend.device();
  options.plain = small_candidate("plain");
  options.tools.sanitizers = {&sanitizer};
  options.suite = {1e12, 1e12};
  options.costs = std::make_shared<WorkloadCosts>(problem, [&](const Problem& of, const Workload& workload) {
    ++computed[workload.name];
    return cost(of, workload);
  });
  auto opened = LocalVerifier::open(problem, backend, clock, std::move(options));
  ASSERT_TRUE(opened) << opened.error().to_string();
  for (int i = 0; i < 2; ++i) EXPECT_TRUE((*opened)->verify(small_candidate("honest")).verdict.accepted());
  EXPECT_EQ(sanitizer.runs, 2);
  EXPECT_THAT(computed, ::testing::ElementsAre(::testing::Pair("gqa", 1), ::testing::Pair("odd", 1),
                                               ::testing::Pair("primary", 1)));
}

TEST_F(VerifierTest, reports_what_the_compiler_said) {
  kernels["broken"] =
      FakeKernel{FakeBehaviour::honest, 1e6, 0, BuildStatus::source_error, "x.cl:3:1: error: no", false};
  kernels["stuck"] = FakeKernel{FakeBehaviour::honest, 1e6, 0, BuildStatus::ok, "", true};
  open();
  const auto broken = verify("broken");
  EXPECT_EQ(broken.verdict.reason, Reason::build_failed);
  EXPECT_EQ(broken.verdict.message, "x.cl:3:1: error: no");
  EXPECT_EQ(verify("stuck").verdict.reason, Reason::build_timeout);
}

TEST_F(VerifierTest, all_builds_of_a_candidate_have_one_deadline) {
  kernels["stuck"] = FakeKernel{FakeBehaviour::honest, 1e6, 0, BuildStatus::ok, "", true};
  open();
  Candidate stuck = small_candidate("stuck");
  stuck.bundle.defines = {{"KEYS", "Skv"}};  // which differs between the workloads
  const Instant began = clock.now();
  EXPECT_EQ(verifier->verify(stuck).verdict.reason, Reason::build_timeout);
  EXPECT_EQ(clock.now() - began, VerifyDeadlines{}.build);
}

TEST_F(VerifierTest, a_busy_machine_decides_nothing_about_what_compiles_for_long) {
  kernels["stuck"] = FakeKernel{FakeBehaviour::honest, 1e6, 0, BuildStatus::ok, "", true};
  open();
  const Candidate stuck = small_candidate("stuck");
  backend.make_busy(2);
  EXPECT_EQ(verifier->verify(stuck).verdict.reason, Reason::build_timeout) << "it had its processor time";
  backend.make_busy(100);
  const auto starved = verifier->verify(stuck);
  EXPECT_EQ(starved.verdict.status, VerdictStatus::unverified);
  EXPECT_EQ(starved.verdict.failed_gate, GateId::build);
  EXPECT_EQ(starved.verdict.message, "the machine was too busy to compile it: killed at the deadline");
}

TEST_F(VerifierTest, keeps_held_out_sizes_from_the_message) {
  kernels["narrow"] = FakeKernel{FakeBehaviour::right_on_primary_only, 2e6, 0, BuildStatus::ok, "", false};
  open();
  const auto result = verify("narrow");
  for (const auto& evidence : result.verdict.evidence) {
    const bool about_held_out = evidence.text.rfind("gqa", 0) == 0;
    EXPECT_TRUE(!about_held_out || evidence.hidden) << evidence.text;
  }
}

TEST_F(VerifierTest, refuses_directives_that_reach_for_files_however_they_are_spelled) {
  open();
  const std::string trigraph = std::string("?") + "?=";  // the compiler would take it for a #
  for (const std::string& source : std::vector<std::string>{
           "#include \"/etc/passwd\"\n", "  #  include <x>\n", "#inc\\\nlude <x>\n", "%:include <x>\n",
           trigraph + "include <x>\n", "#/* */include <x>\n", "#import \"x\"\n"}) {
    const auto result = verifier->verify(small_candidate(source));
    EXPECT_EQ(result.verdict.reason, Reason::source_forbidden) << source;
    EXPECT_EQ(result.verdict.failed_gate, GateId::read) << source;
  }
}

TEST_F(VerifierTest, refuses_a_kernel_that_its_language_has_a_name_of) {
  open();
  Candidate named = small_candidate("honest");
  for (const char* name : {"step", "switch", "min", "int", "float4", "main"}) {
    named.bundle.launches.front().kernel = name;
    const auto verdict = verifier->verify(named).verdict;
    EXPECT_EQ(verdict.reason, Reason::bundle_invalid) << name;
    EXPECT_THAT(verdict.message,
                ::testing::StartsWith(fmt::format("a kernel is called '{}', which OpenCL C has", name)));
  }
  named.bundle.launches.front().kernel = "a_step";
  EXPECT_EQ(verifier->verify(named).verdict.gates_passed.front(), GateId::read);
}

TEST_F(VerifierTest, refuses_a_bundle_for_another_target) {
  open();
  Candidate other = small_candidate("honest");
  other.bundle.target = "cuda";
  const auto result = verifier->verify(other);
  EXPECT_EQ(result.verdict.reason, Reason::bundle_invalid);
  EXPECT_EQ(result.verdict.message, "the bundle is for target cuda, the device fake takes opencl");
}

TEST_F(VerifierTest, notes_what_the_compiler_said_for_feedback) {
  kernels["broken"] =
      FakeKernel{FakeBehaviour::honest, 1e6, 0, BuildStatus::source_error, "x.cl:3:1: error: no\nhelp", false};
  open();
  const auto broken = verify("broken");
  ASSERT_EQ(broken.verdict.evidence.size(), 1U);
  EXPECT_EQ(broken.verdict.evidence[0].text, "x.cl:3:1: error: no\nhelp");
  EXPECT_FALSE(broken.verdict.evidence[0].hidden);
}

TEST_F(VerifierTest, keeps_a_log_of_a_build_for_held_out_sizes_to_itself) {
  // Every workload has a build of its own; the one of the held-out workload, Sq = 5, fails and says its size.
  FakeBackend by_size(problem, clock, [](const BuildRequest& request) {
    FakeKernel kernel;
    const bool held_out = !request.definitions.empty() && request.definitions.front().second == 5;
    if (held_out) kernel.build = BuildStatus::source_error;
    if (held_out) kernel.build_log = "x.cl:1:1: error: expanded from LENGTH = 5";
    return kernel;
  });
  VerifierOptions options;
  options.device = by_size.device();
  options.plain = small_candidate("plain");
  auto opened = LocalVerifier::open(problem, by_size, clock, std::move(options));
  ASSERT_TRUE(opened) << opened.error().to_string();
  Candidate candidate = small_candidate("honest");
  candidate.bundle.defines = {{"LENGTH", "Sq"}};
  const auto result = (*opened)->verify(candidate);
  EXPECT_EQ(result.verdict.reason, Reason::build_failed);
  EXPECT_EQ(result.verdict.message,
            "it does not compile with the definitions of a held-out workload (other sizes than the primary)");
  ASSERT_EQ(result.verdict.evidence.size(), 1U);
  EXPECT_TRUE(result.verdict.evidence[0].hidden);
}

TEST_F(VerifierTest, rejects_what_breaks_a_requirement_with_bound_and_value) {
  kernels["greedy"] = FakeKernel{FakeBehaviour::honest, 2e6, 0.005, BuildStatus::ok, "", false, 200};
  kernels["modest"] = FakeKernel{FakeBehaviour::honest, 2e6, 0.005, BuildStatus::ok, "", false, 128};
  open(*parse_requirements("registers<=128, launches<=1"));
  const auto greedy = verify("greedy");
  EXPECT_EQ(greedy.verdict.failed_gate, GateId::static_check);
  EXPECT_EQ(greedy.verdict.reason, Reason::constraint_violated);
  EXPECT_EQ(greedy.verdict.message,
            "registers<=128 is required (at most 128 registers per thread), and this kernel has 200");
  EXPECT_TRUE(verify("modest").verdict.accepted());
  const auto silent = verify("honest");
  EXPECT_EQ(silent.verdict.status, VerdictStatus::unverified);
  EXPECT_EQ(silent.verdict.message, "registers<=128 is required, and the compiler did not report registers");
}

TEST_F(VerifierTest, does_not_ask_of_the_plain_kernel_what_the_user_requires) {
  open(*parse_requirements("launches<=0"));
  EXPECT_EQ(verify("honest").verdict.reason, Reason::constraint_violated);
}

TEST_F(VerifierTest, says_which_workloads_are_right_when_one_is_wrong) {
  kernels["narrow"] = FakeKernel{FakeBehaviour::right_on_primary_only, 2e6, 0, BuildStatus::ok, "", false};
  open();
  const auto narrow = verify("narrow");
  ASSERT_EQ(narrow.verdict.reason, Reason::wrong_result);
  const Evidence& last = narrow.verdict.evidence.back();
  EXPECT_FALSE(last.hidden);
  EXPECT_EQ(last.gate, GateId::check);
  EXPECT_EQ(last.text,
            "the workloads by themselves: primary (Skv = 20, Sq = 20): right with normal inputs; "
            "odd (Skv = 9, Sq = 7): wrong with normal inputs; that is as if it were right only where Skv = Sq");
}

TEST_F(VerifierTest, says_which_workloads_are_right_with_the_data_that_one_is_wrong_with) {
  kernels["overflows"] = FakeKernel{FakeBehaviour::shifted_on_primary, 2e6, 0, BuildStatus::ok, "", false};
  open();
  const auto overflows = verify("overflows");
  ASSERT_EQ(overflows.verdict.reason, Reason::wrong_result) << overflows.verdict.message;
  const std::string& text = overflows.verdict.evidence.back().text;
  EXPECT_NE(text.find("primary (Skv = 20, Sq = 20): wrong with offset inputs; odd (Skv = 9, Sq = 7): right with offset "
                      "inputs"),
            std::string::npos)
      << text;
}

TEST_F(VerifierTest, says_in_which_pattern_an_output_is_wrong) {
  kernels["tail"] = FakeKernel{FakeBehaviour::last_row_wrong, 2e6, 0, BuildStatus::ok, "", false};
  kernels["absent"] = FakeKernel{FakeBehaviour::writes_nothing, 2e6, 0, BuildStatus::ok, "", false};
  open();
  const auto tail = verify("tail");
  ASSERT_EQ(tail.verdict.evidence.size(), 2U);
  const std::string& text = tail.verdict.evidence[0].text;
  EXPECT_NE(text.find("primary: normal distribution: O: 1 of 320 elements over the limit"), std::string::npos) << text;
  EXPECT_NE(text.find("O[B=0, Hq=1, Sq=19, Dv=7]: expected "), std::string::npos) << text;
  EXPECT_NE(text.find("pattern: only the last of 2 Hq (1); only the last of 20 Sq (19); only the last of 8 Dv (7)"),
            std::string::npos)
      << text;
  EXPECT_FALSE(tail.verdict.evidence[0].hidden);
  EXPECT_NE(verify("absent").verdict.evidence[0].text.find("320 of 320 elements unwritten"), std::string::npos);
  kernels["fickle"] = FakeKernel{FakeBehaviour::differs_each_run, 2e6, 0, BuildStatus::ok, "", false};
  const auto fickle = verify("fickle");
  ASSERT_EQ(fickle.verdict.reason, Reason::nondeterministic);
  EXPECT_NE(fickle.verdict.evidence[0].text.find("O: 1 of "), std::string::npos) << fickle.verdict.evidence[0].text;
}

TEST_F(VerifierTest, says_so_when_the_plain_kernel_itself_is_wrong) {
  kernels["plain"].behaviour = FakeBehaviour::writes_zeros;
  VerifierOptions options;
  options.device = backend.device();
  options.plain = small_candidate("plain");
  const auto opened = LocalVerifier::open(problem, backend, clock, std::move(options));
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, errc::baseline);
  EXPECT_NE(opened.error().message.find("its error is"), std::string::npos) << opened.error().message;
  EXPECT_NE(opened.error().hint.find("more digits than f32 has"), std::string::npos) << opened.error().hint;
}

TEST_F(VerifierTest, says_with_a_code_of_its_own_that_the_best_kernel_of_an_earlier_part_fails) {
  kernels["was best"] = FakeKernel{FakeBehaviour::writes_zeros, 2e6, 0, BuildStatus::ok, "", false};
  open();
  const auto restored = verifier->restore(small_candidate("was best"));
  ASSERT_FALSE(restored);
  EXPECT_EQ(restored.error().code, errc::champion_lost);
  EXPECT_EQ(restored.error().code.exit_class, ExitClass::environment) << "no defect of ours";
  EXPECT_EQ(restored.error().message,
            "the best kernel of the earlier part no longer verifies: workload primary: O is wrong");
}

/// With a verified kernel that is the best.
class FinalMeasurementTest : public VerifierTest {
 protected:
  void SetUp() override {
    open();
    ASSERT_TRUE(verify("honest").verdict.accepted());
    verifier->promote();
  }
};

TEST_F(FinalMeasurementTest, measures_the_champion_in_fresh_processes_against_the_plain_kernel) {
  const int starts_before = backend.starts();
  const int builds_before = backend.builds();
  const auto final = verifier->final_measurement(3, [](Duration) { return true; });
  ASSERT_TRUE(final) << final.error().to_string();
  EXPECT_EQ(backend.starts() - starts_before, 6);
  EXPECT_EQ(backend.builds(), builds_before) << "what was checked is what is measured";
  EXPECT_EQ(final->versus.at(0).name, "plain");
  EXPECT_EQ(final->versus.at(0).decision, Comparison::faster);
  EXPECT_NEAR(final->versus.at(0).speedup, 5.0, 0.1);
}

TEST_F(FinalMeasurementTest, a_final_measurement_that_must_end_decides_on_what_it_has) {
  const auto final = verifier->final_measurement(3, [](Duration) { return false; });
  ASSERT_TRUE(final) << final.error().to_string();
  EXPECT_EQ(final->versus.at(0).pairs, 1);
  EXPECT_EQ(final->samples, 1);
}

/// A budget is kept: a pair that is not over by then would not have been begun.
TEST_F(FinalMeasurementTest, a_final_measurement_asks_for_as_much_time_as_a_pair_took) {
  std::vector<Duration> asked;
  const auto final = verifier->final_measurement(3, [&](Duration needed) {
    asked.push_back(needed);
    return asked.size() < 4;
  });
  ASSERT_TRUE(final) << final.error().to_string();
  ASSERT_GE(asked.size(), 4U);
  EXPECT_TRUE(std::ranges::all_of(asked, [](Duration needed) { return needed > Duration::zero(); }));
}

/// The plain kernel takes most of a pair: what is left of the budget may do for launches without it.
TEST_F(FinalMeasurementTest, a_final_measurement_goes_on_alone_where_a_pair_would_not_be_over) {
  std::vector<Duration> asked;
  const auto final = verifier->final_measurement(1, [&](Duration needed) {
    asked.push_back(needed);
    return needed < asked.front();
  });
  ASSERT_TRUE(final) << final.error().to_string();
  EXPECT_EQ(final->versus.at(0).pairs, 1);
  EXPECT_GT(final->samples, 1);
}

/// Also where another process begins, whose first pair was not seen to take anything.
TEST_F(VerifierTest, begins_a_final_pair_where_the_plain_kernel_would_be_over) {
  kernels["plain"].time_ns = 1e8;  // longer than processes take to start
  open();
  ASSERT_TRUE(verify("honest").verdict.accepted());
  verifier->promote();
  const auto final = verifier->final_measurement(3, [&](Duration needed) { return to_seconds(needed) < 0.09; });
  ASSERT_TRUE(final) << final.error().to_string();
  EXPECT_EQ(final->versus.at(0).pairs, 1);
  EXPECT_EQ(final->samples, 1 + 3 * 12) << "those alone take less";
}

}  // namespace
}  // namespace kw

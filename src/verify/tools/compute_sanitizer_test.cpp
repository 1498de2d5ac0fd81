#include "verify/tools/compute_sanitizer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "verify/local_verifier.hpp"
#include "verify/processes/gpu_tool.hpp"
#include "verify/testing/fake_backend.hpp"
#include "verify/testing/test_problem.hpp"
#include "verify/tools/gpu_tool_probe.hpp"

namespace kw {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

// As compute-sanitizer 2025.3.1 writes them (2026-11-21, H200).
const std::string k_start = "========= COMPUTE-SANITIZER\n";
const std::string k_clean = k_start + "========= ERROR SUMMARY: 0 errors\n";
const std::string k_misaligned =
    k_start +
    "========= Invalid __global__ write of size 16 bytes\n"
    "=========     at misal+0x90 in probe.cu:11\n"
    "=========     by thread (0,0,0) in block (0,0,0)\n"
    "=========     Access to 0x7ff95c800004 is misaligned\n"
    "=========     and is inside the nearest allocation at 0x7ff95c800000 of size 1,024 bytes\n"
    "=========     Saved host backtrace up to driver entry point at kernel launch time\n"
    "=========         Host Frame: main [0x915b] in probe\n"
    "========= \n"
    "========= Invalid __global__ write of size 16 bytes\n"
    "=========     at misal+0x90 in probe.cu:11\n"
    "=========     by thread (1,0,0) in block (0,0,0)\n"
    "========= ERROR SUMMARY: 2 errors\n";
const std::string k_race = k_start +
                           "========= Error: Race reported between Write access at race+0x100 in probe.cu:7\n"
                           "=========     and Read access at race+0x110 in probe.cu:7 [1024 hazards]\n"
                           "========= \n"
                           "========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)\n";

TEST(ComputeSanitizerReport, gives_the_first_finding_on_one_line_with_its_place) {
  EXPECT_EQ(first_tool_finding(k_misaligned),
            "Invalid __global__ write of size 16 bytes; at misal+0x90 in probe.cu:11; by thread (0,0,0) in block "
            "(0,0,0); Access to 0x7ff95c800004 is misaligned");
  EXPECT_EQ(first_tool_finding(k_race),
            "Error: Race reported between Write access at race+0x100 in probe.cu:7; and Read access at race+0x110 in "
            "probe.cu:7 [1024 hazards]");
}

TEST(ComputeSanitizerReport, has_none_when_the_tool_speaks_of_itself_or_others_speak) {
  for (const std::string& text :
       {std::string(), k_clean, k_start + "========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)\n",
        k_start + "========= Error: Target application terminated before first instrumented API call\n",
        k_start + "=========     at nothing+0x90\n", std::string("Invalid __global__ write of size 4 bytes\n")}) {
    EXPECT_EQ(first_tool_finding(text), std::nullopt) << text;
  }
}

TEST(ComputeSanitizerReport, stays_short_and_printable_whatever_it_holds) {
  const std::string hostile = "========= \x1b[31mInvalid\x01 " + std::string(100000, 'x') + "\n";
  const auto finding = first_tool_finding(hostile);
  ASSERT_TRUE(finding);
  EXPECT_LE(finding->size(), 300U);
  for (const char c : *finding) EXPECT_TRUE(c >= ' ' && c <= '~');
  // Cut off anywhere: no crash, and never text of another line.
  for (std::size_t length = 0; length <= k_misaligned.size(); ++length) {
    const auto part = first_tool_finding(k_misaligned.substr(0, length));
    EXPECT_THAT(part.value_or(""), Not(HasSubstr("Saved host"))) << length;
  }
}

TEST(GpuToolVersion, is_what_follows_the_word) {
  EXPECT_EQ(version_in("NVIDIA (R) Compute Sanitizer\nVersion 2025.3.1.0 (build 36400806) (public-release)\n"),
            "2025.3.1.0");
  EXPECT_EQ(version_in("no such word"), "");
  EXPECT_EQ(version_in("Version "), "");
  EXPECT_EQ(version_in("Version " + std::string(1000, '1')).size(), 30U);
}

TEST(GpuToolCommands, send_the_report_to_a_file_and_ask_for_a_status_of_their_own) {
  const GpuTool tool = compute_sanitizer("/opt/cuda/bin/compute-sanitizer", "racecheck");
  EXPECT_EQ(testing::PrintToString(tool.arguments).substr(0, 27), "{ \"--tool\", \"racecheck\", \"-");
  EXPECT_THAT(tool.arguments,
              AllOf(Contains("--error-exitcode"), Contains("86"), Contains("--log-file"), Contains(tool.report_file)));
  EXPECT_FALSE(tool.opens_files) << "the worker locks itself down below it";
  EXPECT_THAT(tool.readable, Contains("/opt/cuda"));
  const GpuTool ncu = nsight_compute("/opt/cuda/bin/ncu", {"a.sum", "b.pct"});
  EXPECT_THAT(ncu.arguments, AllOf(Contains("--csv"), Contains("a.sum,b.pct"), Contains(ncu.report_file)));
  EXPECT_THAT(ncu.arguments, Contains("none")) << "the clocks stay as they are";
}

/// What a tool says, and how long it takes to say it once it is asked to end.
struct Told {
  ToolReport report;
  Duration after{};
};

/// A fake process with a tool around it that says what it was told to.
class WatchedProcess final : public KernelProcess {
 public:
  WatchedProcess(std::unique_ptr<KernelProcess> inner, Told told, FakeClock& clock)
      : inner_(std::move(inner)), told_(std::move(told)), clock_(clock) {}
  Result<void> select(std::size_t plan) override { return inner_->select(plan); }
  std::span<std::byte> buffer(std::size_t index) override { return inner_->buffer(index); }
  std::vector<std::span<std::byte>> guards() override { return inner_->guards(); }
  std::variant<LaunchOutcome, LaunchFailure, LostWorker> launch(bool cold, Duration deadline) override {
    return inner_->launch(cold, deadline);
  }
  [[nodiscard]] ToolReport tool_report() const override { return {std::nullopt, told_.report.text}; }
  ToolReport finish(Duration deadline) override {
    clock_.advance(std::min(deadline, told_.after));
    return told_.after > deadline ? tool_report() : told_.report;
  }

 private:
  std::unique_ptr<KernelProcess> inner_;
  Told told_;
  FakeClock& clock_;
};

/// A backend with a tool around what another one starts.
class WatchedBench final : public ExecutionBackend {
 public:
  WatchedBench(ExecutionBackend& inner, Told told, FakeClock& clock)
      : inner_(inner), told_(std::move(told)), clock_(clock) {}
  [[nodiscard]] const DeviceFacts& device() const override { return inner_.device(); }
  [[nodiscard]] const SandboxReport& sandbox() const override { return inner_.sandbox(); }
  std::variant<BuildReply, LostWorker> build(const BuildRequest& request, AnswerDeadline deadline,
                                             SourceOrigin origin) override {
    return inner_.build(request, deadline, origin);
  }
  std::variant<std::unique_ptr<KernelProcess>, LaunchFailure, LostWorker> start(const StartRequest& request,
                                                                                Duration deadline) override {
    auto started = inner_.start(request, deadline);
    auto* process = std::get_if<std::unique_ptr<KernelProcess>>(&started);
    if (process == nullptr) return started;
    return std::make_unique<WatchedProcess>(std::move(*process), told_, clock_);
  }

 private:
  ExecutionBackend& inner_;
  Told told_;
  FakeClock& clock_;
};

class ComputeSanitizerTest : public ::testing::Test {
 protected:
  /// The verdict on an honest kernel when the tools report as given.
  Verdict verdict(ToolReport memcheck, ToolReport racecheck) {
    return verdict_in(std::nullopt, {std::move(memcheck)}, {std::move(racecheck)});
  }
  /// With so much of the budget left.
  Verdict verdict_in(std::optional<Duration> left, Told memcheck, Told racecheck) {
    std::vector<SanitizerPass> passes;
    passes.push_back({"memcheck", std::make_unique<WatchedBench>(backend_, std::move(memcheck), clock_)});
    passes.push_back({"racecheck", std::make_unique<WatchedBench>(backend_, std::move(racecheck), clock_)});
    const auto sanitizer = compute_sanitizer_over("2025.3.1.0", std::move(passes));
    VerifierOptions options;
    options.secret_seed = 7;
    options.device = backend_.device();
    options.plain = small_candidate("plain");
    options.tools.sanitizers = {sanitizer.get()};
    auto verifier = LocalVerifier::open(problem_, backend_, clock_, std::move(options));
    EXPECT_TRUE(verifier) << verifier.error().to_string();
    began_ = clock_.now();
    return (*verifier)->verify(small_candidate("honest"), left).verdict;
  }
  static std::string story(const Verdict& verdict) {
    std::string text;
    for (const auto& evidence : verdict.evidence) {
      if (evidence.gate == GateId::sanitize) text += (evidence.hidden ? "hidden " : "") + evidence.text + "\n";
    }
    return text;
  }

  Problem problem_ = small_problem();
  FakeClock clock_;
  Instant began_;  ///< the last verdict
  FakeBackend backend_{
      problem_, clock_, [](const BuildRequest& request) {
        return FakeKernel{
            FakeBehaviour::honest, written_source(request) == "plain" ? 10e6 : 2e6, 0.005, BuildStatus::ok, "", false};
      }};
};

TEST_F(ComputeSanitizerTest, passes_what_every_tool_ends_on_without_a_finding) {
  const Verdict clean = verdict({0, k_clean}, {0, k_clean});
  EXPECT_TRUE(clean.accepted()) << clean.message;
  EXPECT_THAT(clean.gates_passed, Contains(GateId::sanitize));
  EXPECT_THAT(story(clean), HasSubstr("no finding (compute-sanitizer 2025.3.1.0: memcheck, racecheck)"));
}

TEST_F(ComputeSanitizerTest, rejects_what_the_tools_status_calls_an_error) {
  const Verdict raced = verdict({0, k_clean}, {k_sanitizer_found, k_race});
  EXPECT_EQ(raced.failed_gate, GateId::sanitize);
  EXPECT_EQ(raced.reason, Reason::sanitizer_report);
  EXPECT_THAT(raced.message, HasSubstr("racecheck: Error: Race reported between Write access"));
  // It says so and nothing more.
  const Verdict silent = verdict({k_sanitizer_found, ""}, {0, ""});
  EXPECT_THAT(story(silent), HasSubstr("memcheck: an error, of which nothing more is said"));
  EXPECT_EQ(silent.message, "a sanitizer finding") << "the last workload is held out";
}

TEST_F(ComputeSanitizerTest, goes_by_the_status_and_not_by_text_that_a_kernel_may_have_forged) {
  EXPECT_TRUE(verdict({0, k_misaligned}, {0, k_race}).accepted());
  EXPECT_FALSE(verdict({k_sanitizer_found, k_clean}, {0, k_clean}).accepted());
}

TEST_F(ComputeSanitizerTest, says_which_tool_did_not_come_to_its_end) {
  const Verdict partly = verdict({0, k_clean}, {std::nullopt, ""});
  EXPECT_TRUE(partly.accepted());
  EXPECT_THAT(partly.gates_passed, Contains(GateId::sanitize));
  EXPECT_THAT(story(partly), HasSubstr("memcheck); racecheck did not come to its end: it does not end"));
  const Verdict nothing = verdict({255, ""}, {std::nullopt, ""});
  EXPECT_TRUE(nothing.accepted());
  EXPECT_THAT(nothing.gates_passed, Not(Contains(GateId::sanitize)));
  EXPECT_THAT(story(nothing), HasSubstr("not sanitized; memcheck did not come to its end: exit status 255"));
}

TEST_F(ComputeSanitizerTest, leaves_undecided_what_a_tool_would_say_after_the_budget) {
  constexpr Duration k_left = std::chrono::seconds(8);
  const Verdict late = verdict_in(k_left, {{0, k_clean}}, {{0, k_clean}, std::chrono::seconds(15)});
  EXPECT_EQ(late.status, VerdictStatus::unverified);
  EXPECT_EQ(late.failed_gate, GateId::sanitize);
  EXPECT_THAT(late.message, HasSubstr("not decided, the budget ended during it"));
  EXPECT_LT(to_seconds(clock_.now() - began_), 8.05);
  const Verdict in_time =
      verdict_in(std::chrono::seconds(20), {{0, k_clean}}, {{0, k_clean}, std::chrono::seconds(15)});
  EXPECT_TRUE(in_time.accepted()) << in_time.message;
}

}  // namespace
}  // namespace kw

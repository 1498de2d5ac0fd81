// kernelwright verify: one bundle through all gates.

#include <cstdio>

#include "base/text.hpp"
#include "base/time_ledger.hpp"
#include "cli/commands.hpp"
#include "cli/device_choice.hpp"
#include "cli/dispatch_text.hpp"
#include "cli/inputs.hpp"
#include "cli/print.hpp"
#include "loop/threads.hpp"
#include "loop/time_uses.hpp"
#include "loop/verifier_setup.hpp"
#include "record/access_text.hpp"
#include "record/json.hpp"
#include "record/time_use.hpp"
#include "record/useful_rate.hpp"
#include "report/stage_times.hpp"
#include "verify/local_verifier.hpp"
#include "verify/timing/calibrate.hpp"

namespace kw {
namespace {

Result<DeviceFacts> measured_facts(const OpenedDevice& device, TimeLedger& ledger) {
  const auto measuring = TimeLedger::activity(&ledger, time_activity::peaks);
  return calibrate(*device.backend);
}

Result<std::unique_ptr<LocalVerifier>> open_verifier(const Problem& problem, const OpenedDevice& device,
                                                     const std::string& target, bool profile, const Clock& clock,
                                                     TimeLedger& ledger) {
  const auto opening = TimeLedger::stage(&ledger, time_stage::opening);
  KW_TRY(auto facts, measured_facts(device, ledger));
  VerifierTools tools = device.tools();
  if (!profile) tools.profiler = nullptr;
  KW_TRY(auto options,
         verifier_options(problem, target, std::move(facts), parallel_for(usable_processors()), std::move(tools)));
  options.count_accesses = profile;
  options.ledger = &ledger;
  return LocalVerifier::open(problem, *device.backend, clock, std::move(options));
}

/// "K=1024 M=1024"
std::string size_text(const Workload& workload) {
  std::vector<std::string> sizes;
  for (const auto& [axis, extent] : workload.axes) sizes.push_back(fmt::format("{}={}", axis, extent));
  return join(sizes, " ");
}

void print_time(const Measurement& time, const BaselineRecord& plain, const Problem& problem) {
  const WorkloadCost work = cost(problem, problem.primary());
  const auto rate = useful_rate_text(work.flops, work.bytes, time.median_ns);
  // Of a module that is too large for this machine, the description says what was made smaller.
  print_text("\nsize   {}\n", size_text(problem.primary()));
  if (!problem.description.empty()) print_text("       {}\n", problem.description);
  print_text("time   {:.3f} ms [{:.3f}, {:.3f}] ({} cold launches, 95 % interval of the median){}\n",
             time.median_ns / 1e6, time.ci_ns.low / 1e6, time.ci_ns.high / 1e6, time.samples,
             rate.empty() ? "" : ", " + rate);
  print_text("plain  {:.3f} ms: {:.1f}x, not interleaved; `optimize` compares interleaved\n", plain.median_ns / 1e6,
             plain.median_ns / time.median_ns);
}

void print_evidence(const VerifyResult& result, const BaselineRecord& plain, const Problem& problem) {
  const auto& verdict = result.verdict;
  print_text("{}\n", verdict_in_words(verdict));
  for (const auto gate : verdict.gates_passed) print_text("pass   {}\n", to_string(gate));
  if (verdict.failed_gate) {
    print_text("FAIL   {}: {}: {}\n", to_string(*verdict.failed_gate), to_string(verdict.reason), verdict.message);
  }
  for (const auto& evidence : verdict.evidence) print_text("       {}: {}\n", to_string(evidence.gate), evidence.text);
  if (!verdict.accepted() && !result.build.log.empty()) print_text("\ncompiler log\n{}\n", result.build.log);
  if (!result.accuracy.empty())
    print_text("\n{:<24} {:<10} {:>11} {:>11}\n", "workload", "data", "max error", "allowed");
  for (const auto& row : result.accuracy) {
    print_text("{:<24} {:<10} {:>11.2e} {:>11.2e}\n", row.workload, row.distribution, row.max_error, row.allowed);
  }
  if (result.accesses) {
    print_text("\n");
    for (const std::string& line : access_lines(*result.accesses)) print_text("{}\n", line);
  }
  if (result.measurement) print_time(*result.measurement, plain, problem);
}

ExitCode exit_code_of_verdict(VerdictStatus status) {
  switch (status) {
    case VerdictStatus::accepted:
      return ExitCode::success;
    case VerdictStatus::rejected:
      return ExitCode::rejected;
    case VerdictStatus::unverified:
    case VerdictStatus::screened:  // only a search screens
      return ExitCode::environment;
  }
  return ExitCode::internal;
}

}  // namespace

Result<ExitCode> run_verify(const VerifyOptions& options) {
  KW_TRY(const auto problem, read_problem(options.input));
  KW_TRY(const auto candidate, read_candidate(options.bundle, options.tune));
  const SteadyClock clock;
  const Instant began = clock.now();
  KW_TRY(const auto device, open_device(options.device, candidate.bundle.target, options.require_sandbox));
  TimeLedger ledger(clock, began, time_stage::opening, time_activity::device);
  KW_TRY(const auto verifier, open_verifier(problem, device, candidate.bundle.target, options.profile, clock, ledger));
  VerifyResult result = verifier->verify(candidate);
  if (options.json) {
    Attempt attempt;
    attempt.proposer = "user";
    attempt.origin = options.bundle.string();
    attempt.candidate = candidate;
    attempt.verdict = result.verdict;
    attempt.build = result.build;
    attempt.measurement = result.measurement;
    attempt.accesses = result.accesses;
    attempt.device_seconds = result.device_seconds;
    std::fputs((encode(attempt) + "\n").c_str(), stdout);
  } else {
    print_evidence(result, verifier->plain(), problem);
    // Where the table has no answer, the read gate said so.
    if (const auto tunables = resolve_workloads(candidate, problem, device.backend->device()))
      print_text("{}", rows_text(candidate.bundle, *tunables));
    print_text("\nwhere {:.1f} s of verifying went\n", ledger.elapsed());
    for (const auto& line : stage_lines(joined_uses({}, ledger.entries()))) print_text("  {}\n", line);
    print_text("\n{}\n", verdict_in_words(result.verdict));
  }
  return exit_code_of_verdict(result.verdict.status);
}

}  // namespace kw

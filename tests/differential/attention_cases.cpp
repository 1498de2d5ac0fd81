#include "tests/differential/attention_cases.hpp"

#include <fmt/format.h>

#include "base/clock.hpp"
#include "codegen/codegen.hpp"
#include "loop/verifier_setup.hpp"
#include "operators/attention/attention.hpp"
#include "record/launch_plan.hpp"
#include "tests/differential/random_assignment.hpp"
#include "verify/checking/accuracy.hpp"
#include "verify/local_verifier.hpp"

namespace kw {
namespace {

using Status = CaseOutcome::Status;

constexpr int k_max_shrinking_runs = 150;
constexpr std::int64_t k_cheap_to_build = 16;
/// The plain kernel's error on data of these sizes. Beyond it the baseline itself is wrong, not imprecise.
constexpr double k_plain_limit_f32 = 1e-4;
constexpr double k_plain_limit_16_bit = 4e-3;

IntBindings subset(const IntBindings& all, const std::vector<Tunable>& of) {
  IntBindings part;
  for (const auto& t : of) {
    if (const auto found = all.find(t.name); found != all.end()) part.insert(*found);
  }
  return part;
}

/// Multiply-adds that the compiler sees in the two register tiles of the vector style. Large tiles take seconds to
/// build and are no different in kind, so that small ones are drawn more often.
std::int64_t unrolled(const IntBindings& tunables) {
  if (tunables.count("VALUE_TILE") == 0) return 0;
  const auto of = [&](const char* name) { return tunables.find(name)->second; };
  return of("ROWS") * (of("PANELS") * of("UNROLL_D") + of("VALUE_TILE") * of("UNROLL_KV"));
}

std::string evidence_of(const VerifyResult& result) {
  auto text = fmt::format("{}: {}\n", to_string(result.verdict.reason), result.verdict.message);
  for (const auto& note : result.verdict.evidence) text += note.text + "\n";
  return text + result.build.log;
}

/// What is wrong with the plain kernel's accuracy, or "".
std::string too_inexact(const Problem& problem, const CheckSuite& suite) {
  const double limit = is_16_bit_float(attention_of(problem)->dtype) ? k_plain_limit_16_bit : k_plain_limit_f32;
  for (const auto& one : suite.cases()) {
    for (std::size_t i = 0; i < one.allowed.size(); ++i) {
      const auto form = output_form(problem, problem.outputs[i], problem.workloads[one.workload].axes);
      const double reached = one.allowed[i] / allowed_error(form, one.expected[i].size(), 1.0);
      if (reached <= limit) continue;
      return fmt::format("error {:.2e} on {}, {} data", reached, problem.workloads[one.workload].name,
                         one.distribution.name);
    }
  }
  return {};
}

/// One that make_candidate leaves to planning, because it names facts of the device.
bool breaks_a_constraint(const Candidate& candidate, const Problem& problem, const DeviceFacts& device) {
  const auto plan = plan_launches(candidate, problem, problem.primary().axes, device);
  return !plan && plan.error().code == errc::candidate_constraint;
}

}  // namespace

Result<AttentionCases> AttentionCases::open(const std::string& target) {
  BackendOptions options;
  options.device_id = target == "opencl" ? "opencl:0" : "sim:sm_90";
  options.target = target;
  KW_TRY(auto backend, open_process_backend(options));
  return AttentionCases(target, std::move(backend));
}

/// Any but the plain one that can write the problem.
Result<const Style*> AttentionCases::style(const Problem& problem, RandomAttention& program) const {
  if (!program.style.empty()) return find_style(problem.op, target_, program.style);
  std::vector<const Style*> able;
  for (const Style& one : styles_of("attention"))
    if (one.op == problem.op && one.target == target_ && one.name != "plain" &&
        one.emit(problem, backend_->device(), {}))
      able.push_back(&one);
  if (able.empty()) return fail(errc::codegen_style, "no style of {} writes this problem", target_);
  Rng rng(program.style_seed);
  const Style* drawn = able[static_cast<std::size_t>(rng.below(std::ssize(able)))];
  program.style = drawn->name;
  return drawn;
}

Result<Candidate> AttentionCases::candidate(const Problem& problem, RandomAttention& program) const {
  KW_TRY(const auto* style, this->style(problem, program));
  if (!program.assignment.empty()) {
    KW_TRY(auto bundle, style->emit(problem, backend_->device(), subset(program.assignment, style->structure)));
    const auto tunables = subset(program.assignment, bundle.tunables);
    return make_candidate(std::move(bundle), tunables);
  }
  Rng rng(program.style_seed);
  while (true) {
    const auto structure = random_assignment(style->structure, rng);
    KW_TRY(auto bundle, style->emit(problem, backend_->device(), structure));
    const auto tunables = random_assignment(bundle.tunables, rng);
    auto drawn = make_candidate(std::move(bundle), tunables);
    if (!drawn || breaks_a_constraint(*drawn, problem, backend_->device())) continue;
    if (unrolled(tunables) > k_cheap_to_build && rng.below(4) != 0) continue;
    program.assignment = structure;
    program.assignment.insert(tunables.begin(), tunables.end());
    return drawn;
  }
}

CaseOutcome AttentionCases::run(RandomAttention& program) {
  auto problem = parse_problem(program.to_toml(), "random.toml");
  if (!problem) return {Status::fails, "problem", problem.error().to_string()};
  const SteadyClock clock;
  auto options = verifier_options(*problem, target_, backend_->device(), serial_for, {});
  if (!options) return {Status::fails, "plain", options.error().to_string()};
  options->secret_seed = program.data_seed;
  auto verifier = LocalVerifier::open(*problem, *backend_, clock, *std::move(options));
  if (!verifier) {
    const bool unscorable = verifier.error().code == errc::unscorable;
    return {unscorable ? Status::unscorable : Status::fails, "plain", verifier.error().to_string()};
  }
  if (auto why = too_inexact(*problem, (*verifier)->suite()); !why.empty()) return {Status::fails, "plain", why};
  auto styled = candidate(*problem, program);
  if (!styled) return {Status::fails, "emit", styled.error().to_string()};
  const auto result = (*verifier)->verify(*styled);
  if (result.verdict.accepted()) return {};
  return {Status::fails, program.style, evidence_of(result)};
}

RandomAttention AttentionCases::shrink(RandomAttention program, const std::string& stage) {
  int runs = 0;
  for (bool smaller_found = true; smaller_found && runs < k_max_shrinking_runs;) {
    smaller_found = false;
    for (auto& variant : smaller(program)) {
      if (++runs > k_max_shrinking_runs) break;
      const auto outcome = run(variant);
      if (outcome.status != Status::fails || outcome.stage != stage) continue;
      program = std::move(variant);
      smaller_found = true;
      break;
    }
  }
  return program;
}

std::string describe(const RandomAttention& program, const CaseOutcome& outcome) {
  std::string assignment;
  for (const auto& [name, value] : program.assignment) assignment += fmt::format(" {}={}", name, value);
  return fmt::format("stage {}: {}\n--- problem\n{}--- style {}, structure and tunables:{}\n--- data seed {}\n",
                     outcome.stage, outcome.message, program.to_toml(), program.style, assignment, program.data_seed);
}

}  // namespace kw

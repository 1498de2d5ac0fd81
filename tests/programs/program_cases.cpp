#include "tests/programs/program_cases.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/clock.hpp"
#include "codegen/codegen.hpp"
#include "loop/verifier_setup.hpp"
#include "operators/program/size_axes.hpp"
#include "problem/problem.hpp"
#include "program/reader/program_reader.hpp"
#include "record/launch_plan.hpp"
#include "tests/differential/random_assignment.hpp"
#include "tests/programs/interpreted.hpp"
#include "verify/checking/check_suite.hpp"
#include "verify/local_verifier.hpp"

namespace kw {
namespace {

using Status = ProgramOutcome::Status;

constexpr int k_most_shrinking_runs = 200;
constexpr int k_most_bindings = 6;
constexpr int k_most_assignments = 50;

/// Of the axes that are sizes: about the same, up to two more or fewer.
Axes other_bindings(const Axes& axes, Rng& rng) {
  Axes other = axes;
  for (auto& [name, extent] : other) {
    if (rng.below(2) == 0) extent = std::max<std::int64_t>(1, extent + rng.below(5) - 2);
  }
  return other;
}

std::string problem_text(const std::string& module, const Axes& axes, const Axes& other) {
  std::string toml = "name = \"program/random\"\nop = \"program\"\n[axes]\n";
  for (const auto& [name, extent] : axes) toml += fmt::format("{} = {}\n", name, extent);
  toml += "[program]\nmodule = '''\n" + module + "'''\n[[workload]]\nname = \"other\"\nrole = \"edge\"\n";
  for (const auto& [name, extent] : other) toml += fmt::format("{} = {}\n", name, extent);
  return toml;
}

/// Whether the second workload's answer is a number: an index that one extent has may be outside of another.
bool has_answer(const Problem& problem, std::uint64_t seed) {
  const Workload& workload = problem.workloads.back();
  const auto inputs = make_inputs(problem, workload, Distribution::normal, seed);
  const auto answers =
      inputs ? evaluate_oracle(problem, workload, inputs->values) : Result<OutputValues>(OutputValues{});
  if (!answers) return false;
  for (const auto& output : *answers) {
    for (const double value : output) {
      if (std::isnan(value)) return false;
    }
  }
  return inputs.has_value();
}

/// With a second workload of other extents, where the module is the same program on some.
Result<Problem> problem_of_module(const RandomModule& module, const Program& program) {
  Axes axes;
  for (const auto& name : size_axes(program)) {
    for (const auto& axis : module.axes) {
      if (axis.name == name) axes[name] = axis.extent;
    }
  }
  Rng rng(module.data_seed);
  for (int i = 0; i < k_most_bindings; ++i) {
    auto problem = parse_problem(problem_text(module.to_python(), axes, other_bindings(axes, rng)), "random.toml");
    if (problem && has_answer(*problem, module.data_seed)) return problem;
  }
  return parse_problem(problem_text(module.to_python(), axes, axes), "random.toml");
}

/// What the generator says of the shapes of the results, against what the reader found.
std::string difference_of_shapes(const RandomModule& module, const Program& program) {
  const auto results = module.results();
  for (std::size_t i = 0; i < results.size(); ++i) {
    std::vector<std::int64_t> own;
    for (const auto& dim : module.values[results[i]].shape) own.push_back(dim.value);
    const auto read = values_of(program.graph.values[program.outputs[i]].type.shape);
    if (own != read) {
      return fmt::format("v{} has the shape [{}], not [{}]", results[i], fmt::join(own, ", "), fmt::join(read, ", "));
    }
  }
  return {};
}

std::string evidence_of(const VerifyResult& result) {
  auto text = fmt::format("{}: {}\n", to_string(result.verdict.reason), result.verdict.message);
  for (const auto& note : result.verdict.evidence) text += note.text + "\n";
  return text + result.build.log;
}

/// A random legal assignment of structure and tunables; nothing when no draw is legal.
Result<std::optional<Candidate>> drawn_candidate(const Style& style, const Problem& problem, const DeviceFacts& device,
                                                 Rng& rng) {
  for (int i = 0; i < k_most_assignments; ++i) {
    auto bundle = style.emit(problem, device, random_assignment(style.structure, rng));
    if (!bundle && bundle.error().code == errc::codegen_unsupported) return std::nullopt;
    KW_TRY_VOID(bundle);
    const IntBindings tunables = random_assignment(bundle->tunables, rng);
    auto candidate = make_candidate(*std::move(bundle), tunables);
    if (!candidate) continue;
    const auto plan = plan_launches(*candidate, problem, problem.primary().axes, device);
    if (plan || plan.error().code != errc::candidate_constraint) return *std::move(candidate);
  }
  return std::nullopt;
}

}  // namespace

Result<ProgramCases> ProgramCases::open(const std::string& target) {
  if (target == "oracle") return ProgramCases(target, nullptr);
  BackendOptions options;
  const auto colon = target.find(':');
  options.target = target.substr(0, colon);
  if (colon != std::string::npos) {
    options.device_id = target;
  } else {
    options.device_id = target == "opencl" ? "opencl:0" : "sim:sm_90";
  }
  KW_TRY(auto backend, open_process_backend(options));
  return ProgramCases(options.target, std::move(backend));
}

ProgramOutcome ProgramCases::run(const RandomModule& module) const {
  const auto program = read_program(module.to_python(), "random.py");
  if (!program) return {Status::fails, "read", program.error().to_string()};
  if (module.as_drawn) {
    if (auto why = difference_of_shapes(module, *program); !why.empty()) return {Status::fails, "read", why};
  }
  const auto problem = problem_of_module(module, *program);
  if (!problem) return {Status::fails, "read", problem.error().to_string()};
  for (const auto& workload : problem->workloads) {
    const auto inputs = make_inputs(*problem, workload, Distribution::normal, module.data_seed);
    if (!inputs) return {Status::fails, "read", inputs.error().to_string()};
    if (auto why = difference_on_demand(*problem, workload, inputs->values, module.data_seed); !why.empty()) {
      return {Status::fails, "on demand", why};
    }
    if (auto why = difference_of_stages(*problem, workload, inputs->values); !why.empty()) {
      return {Status::fails, "stages", why};
    }
    if (auto why = difference_of_simplified(*problem, workload, inputs->values); !why.empty()) {
      return {Status::fails, "simplified", why};
    }
  }
  return backend_ == nullptr ? ProgramOutcome{} : run_kernels(*problem, module.data_seed);
}

ProgramOutcome ProgramCases::run_kernels(const Problem& problem, std::uint64_t seed) const {
  const SteadyClock clock;
  auto options = verifier_options(problem, target_, backend_->device(), serial_for, {});
  if (!options) return {Status::fails, "plain", options.error().to_string()};
  options->secret_seed = seed;
  auto verifier = LocalVerifier::open(problem, *backend_, clock, *std::move(options));
  if (!verifier) {
    const bool unscorable = verifier.error().code == errc::unscorable;
    return {unscorable ? Status::unscorable : Status::fails, "plain", verifier.error().to_string()};
  }
  Rng rng(seed);
  for (const Style& style : styles_of(problem.op)) {
    if (style.target != target_ || style.name == "plain") continue;
    const auto drawn = drawn_candidate(style, problem, backend_->device(), rng);
    if (!drawn) return {Status::fails, "emit", style.name + ": " + drawn.error().to_string()};
    if (!*drawn) continue;
    const auto result = (*verifier)->verify(**drawn);
    if (!result.verdict.accepted()) {
      std::string assignment;
      for (const auto& [name, value] : (*drawn)->tunables) assignment += fmt::format(" {}={}", name, value);
      return {Status::fails, style.name, evidence_of(result) + "\ntunables:" + assignment};
    }
  }
  return {};
}

RandomModule ProgramCases::shrink(RandomModule module, const std::string& stage) const {
  int runs = 0;
  for (bool smaller_found = true; smaller_found && runs < k_most_shrinking_runs;) {
    smaller_found = false;
    for (auto& variant : smaller(module)) {
      // What other extents make invalid is refused for another reason.
      if (stage == "read" && !variant.as_drawn) continue;
      if (++runs > k_most_shrinking_runs) break;
      const auto outcome = run(variant);
      if (outcome.status != Status::fails || outcome.stage != stage) continue;
      module = std::move(variant);
      smaller_found = true;
      break;
    }
  }
  return module;
}

std::string describe(const RandomModule& module, const ProgramOutcome& outcome) {
  return fmt::format("stage {}: {}\n--- module\n{}--- data seed {}\n", outcome.stage, outcome.message,
                     module.to_python(), module.data_seed);
}

}  // namespace kw

#include "suite/kernelbench_judge.hpp"

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "codegen/codegen.hpp"
#include "loop/verifier_setup.hpp"
#include "measure/measure.hpp"
#include "verify/checking/case_runner.hpp"
#include "verify/checking/storage.hpp"
#include "verify/gates/gate.hpp"

namespace kw {
namespace {

constexpr std::int64_t k_kernelbench_trials = 5;
/// The oracle has some 4e9 steps a second on two cores, and is asked five times.
constexpr double k_most_judged_steps = 2e9;

double kernelbench_tolerance(DType dtype) {
  return is_16_bit_float(dtype) ? 1e-2 : 1e-4;
}

/// As get_inputs() draws them; problems that are no modules have normal data.
Distribution given_distribution(const Problem& problem) {
  for (const auto& one : all_distributions(problem)) {
    if (one.name == "as_given") return one;
  }
  return Distribution::normal;
}

Result<Candidate> written_kernel(const Problem& problem, const KernelBenchJudging& judging, const DeviceFacts& device) {
  const std::string style = judging.style.empty() ? fastest_style(problem, judging.target, device) : judging.style;
  KW_TRY(auto bundle, emit_bundle(problem, judging.target, style, device));
  return make_candidate(std::move(bundle));
}

class KernelBenchTrials {
 public:
  KernelBenchTrials(const Problem& problem, const KernelBenchJudging& judging, VerifierOptions options)
      : problem_(problem),
        rng_(options.secret_seed),
        facts_{problem, judging.backend, judging.clock, std::move(options), {}, judging.clock.now()},
        measuring_{{}, {}, facts_.options.device, Rng(1), {}},
        context_{facts_, measuring_, StepClock(judging.clock)} {}

  KernelBenchVerdict run(Candidate candidate) {
    context_.loaded.candidate = std::move(candidate);
    if (!run_gates(GatePhase::build, context_)) return not_judged(context_.verdict.message);
    if (auto failure = start_candidate(facts_.backend, context_.loaded, facts_.options.deadlines.start)) {
      return not_judged(failure->sentence);
    }
    KernelBenchVerdict verdict;
    std::vector<double> times;
    for (; verdict.trials < k_kernelbench_trials; ++verdict.trials) {
      auto failed = trial(verdict, times);
      if (failed) return not_judged(*failed);
    }
    if (facts_.options.device.kind != DeviceKind::simulator) verdict.median_ns = median(times);
    return verdict;
  }

  static KernelBenchVerdict not_judged(const std::string& why) {
    KernelBenchVerdict verdict;
    verdict.not_judged = on_one_line(why);
    return verdict;
  }

 private:
  /// What went wrong, if anything did.
  std::optional<std::string> trial(KernelBenchVerdict& verdict, std::vector<double>& times) {
    const Workload& primary = problem_.primary();
    CheckCase one;
    one.distribution = given_distribution(problem_);
    auto inputs = make_inputs(problem_, primary, one.distribution, InputSeeds{rng_.next()}, facts_.options.parallel);
    if (!inputs) return inputs.error().message;
    one.inputs = std::move(inputs->values);
    const auto expected = evaluate_oracle(problem_, primary, one.inputs, facts_.options.parallel);
    if (!expected) return expected.error().message;
    const CaseMode mode{true, k_nan_poison, facts_.options.deadlines.first_launch, false};
    const auto run = run_case(problem_, context_.loaded, one, mode, context_.clock, facts_.options.parallel);
    if (!run) return run.error().sentence;
    times.push_back(static_cast<double>(run->time.claimed_ns));
    bool all_close = true;
    for (std::size_t output = 0; output < problem_.outputs.size(); ++output) {
      const DType dtype = problem_.outputs[output].dtype;
      auto right = (*expected)[output];
      for (double& value : right) value = static_cast<double>(static_cast<float>(value));
      const auto close = closeness(right, stored_values(dtype, run->outputs[output], facts_.options.parallel),
                                   kernelbench_tolerance(dtype));
      all_close = all_close && close.all_close;
      verdict.worst_difference = std::max(verdict.worst_difference, close.worst_difference);
    }
    verdict.passed += all_close ? 1 : 0;
    return std::nullopt;
  }

  const Problem& problem_;
  Rng rng_;
  RunFacts facts_;
  MeasureState measuring_;
  GateContext context_;
};

}  // namespace

Closeness closeness(std::span<const double> right, std::span<const double> given, double tolerance) {
  Closeness result;
  result.all_close = right.size() == given.size();
  for (std::size_t i = 0; i < right.size() && i < given.size(); ++i) {
    if (right[i] == given[i]) continue;  // infinities too
    const double difference = std::fabs(right[i] - given[i]);
    const bool close = std::isfinite(given[i]) && difference <= tolerance + tolerance * std::fabs(given[i]);
    result.all_close = result.all_close && close;
    const double shown = std::isnan(difference) ? std::numeric_limits<double>::infinity() : difference;
    result.worst_difference = std::max(result.worst_difference, shown);
  }
  return result;
}

KernelBenchVerdict judge_by_kernelbench(const Problem& problem, const KernelBenchJudging& judging) {
  const DeviceFacts& device = judging.backend.device();
  const double steps = cost(problem, problem.primary()).steps;
  if (steps > k_most_judged_steps) {
    return KernelBenchTrials::not_judged(
        fmt::format("the oracle would take {:.2g} steps for each of {} answers; --fit makes the problem smaller", steps,
                    k_kernelbench_trials));
  }
  auto options = verifier_options(problem, judging.target, device, judging.parallel, {});
  if (!options) return KernelBenchTrials::not_judged(options.error().message);
  auto candidate = written_kernel(problem, judging, device);
  if (!candidate) return KernelBenchTrials::not_judged(candidate.error().message);
  options->costs = std::make_shared<WorkloadCosts>(problem);
  return KernelBenchTrials(problem, judging, *std::move(options)).run(*std::move(candidate));
}

}  // namespace kw

#include "verify/check_suite.hpp"

#include <algorithm>

#include "base/rng.hpp"
#include "verify/accuracy.hpp"
#include "verify/probes.hpp"
#include "verify/storage.hpp"

namespace kw {
namespace {

constexpr std::uint32_t k_no_poison = 0xffffffffU;  // no probe writes this NaN

Result<std::vector<CheckCase>> list_cases(const Problem& problem) {
  std::vector<CheckCase> cases(k_timing_cases);
  // Small workloads come before the primary's other distributions: a wrong kernel is found where checking is cheap.
  for (const bool primary : {false, true}) {
    for (std::size_t w = 0; w < problem.workloads.size(); ++w) {
      if ((w == 0) != primary) continue;
      KW_TRY(const auto distributions, distributions_for(problem, problem.workloads[w]));
      for (const auto distribution : distributions) {
        if (primary && distribution == Distribution::normal) continue;  // the timing cases are these
        CheckCase one;
        one.workload = w;
        one.distribution = distribution;
        cases.push_back(std::move(one));
      }
    }
  }
  return cases;
}

/// Whether these values would be taken for the answer.
bool passes(const Problem& problem, const std::vector<double>& values, const CheckCase& one, std::size_t output) {
  const auto form = output_form(problem.outputs[output], problem.workloads[one.workload].axes);
  const auto bytes = stored(form.dtype, std::vector<float>(values.begin(), values.end()));
  const auto error = measure_error(bytes, k_no_poison, one.expected[output], form, one.allowed[output]);
  return error.over == 0 && error.not_finite == 0;
}

/// The cases, smallest first: most probes fail on the first.
std::vector<const CheckCase*> by_size(const std::vector<CheckCase>& cases) {
  std::vector<const CheckCase*> sorted;
  for (const auto& one : cases) sorted.push_back(&one);
  std::stable_sort(sorted.begin(), sorted.end(), [](const CheckCase* a, const CheckCase* b) {
    return a->expected.front().size() < b->expected.front().size();
  });
  return sorted;
}

Result<bool> passes_everywhere(const Problem& problem, const std::vector<const CheckCase*>& cases, const Probe& probe,
                               std::size_t output, const ParallelFor& parallel) {
  for (const CheckCase* one : cases) {
    KW_TRY(const auto values, probe_values(problem, probe, *one, output, parallel));
    if (!values || !passes(problem, *values, *one, output)) return false;
  }
  return true;
}

}  // namespace

Result<CheckSuite> CheckSuite::make(const Problem& problem, std::uint64_t seed, const ParallelFor& parallel) {
  CheckSuite suite;
  for (const auto& output : problem.outputs) suite.least_allowed_.push_back(least_allowed_error(output.dtype));
  KW_TRY(suite.cases_, list_cases(problem));
  Rng rng(seed);
  for (std::size_t i = 0; i < suite.cases_.size(); ++i) {
    CheckCase& one = suite.cases_[i];
    const auto& workload = problem.workloads[one.workload];
    const std::uint64_t operands = rng.next();
    const InputSeeds seeds{operands, i < k_timing_cases ? k_nominal_seed : rng.next()};
    KW_TRY(one.inputs, make_inputs(problem, workload, one.distribution, seeds));
    KW_TRY(one.expected, evaluate_oracle(problem, workload, one.inputs, parallel));
    for (std::size_t output = 0; output < one.expected.size(); ++output) {
      const auto elements = static_cast<std::int64_t>(one.expected[output].size());
      const auto row_length = output_form(problem.outputs[output], workload.axes).row_length;
      one.slack.push_back(small_output_factor(elements / row_length));
    }
  }
  return suite;
}

void CheckSuite::allow_errors(const std::vector<std::vector<double>>& errors) {
  KW_CHECK(errors.size() == cases_.size(), "{} errors for {} cases", errors.size(), cases_.size());
  for (std::size_t i = 0; i < cases_.size(); ++i) {
    cases_[i].allowed.clear();
    for (std::size_t output = 0; output < errors[i].size(); ++output) {
      const double of_large_outputs = std::max(k_error_factor * errors[i][output], least_allowed_[output]);
      cases_[i].allowed.push_back(cases_[i].slack[output] * of_large_outputs);
    }
  }
}

Result<void> CheckSuite::require_scorable(const Problem& problem, const ParallelFor& parallel) const {
  const auto cases = by_size(cases_);
  for (const auto& probe : probes_for(problem)) {
    std::string passing;
    bool all = true;
    for (std::size_t output = 0; output < problem.outputs.size(); ++output) {
      KW_TRY(const bool passes, passes_everywhere(problem, cases, probe, output, parallel));
      all = all && passes;
      if (passes) passing += (passing.empty() ? "" : " and ") + problem.outputs[output].name;
    }
    // An output may do without an input, as a row's log-sum-exp does without the values; the problem may not.
    if (passing.empty() || (probe.kind == Probe::Kind::without && !all)) continue;
    return fail(
        Error{errc::unscorable,
              fmt::format("{} cannot be scored: {} as {} passes every check", problem.name, probe.name, passing),
              probe.remedy});
  }
  return {};
}

}  // namespace kw

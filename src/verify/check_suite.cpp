#include "verify/check_suite.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>

#include "base/rng.hpp"
#include "verify/accuracy.hpp"

namespace kw {
namespace {

std::vector<CheckCase> list_cases(const Problem& problem) {
  std::vector<CheckCase> cases(k_timing_cases);
  // Small workloads come before the primary's other distributions: a wrong kernel is found where checking is cheap.
  for (const bool primary : {false, true}) {
    for (std::size_t w = 0; w < problem.workloads.size(); ++w) {
      if ((w == 0) != primary) continue;
      for (const auto distribution : all_distributions()) {
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

std::int64_t row_length(const Problem& problem, const CheckCase& one, std::size_t output) {
  return problem.workloads[one.workload].axes.find(problem.outputs[output].axes.back())->second;
}

/// The values a cheater could write without computing anything: zeros, the mean of the right answer, an input.
std::vector<std::pair<std::string, std::vector<float>>> trivial_outputs(const Problem& problem, const CheckCase& one,
                                                                        std::size_t output) {
  const auto& expected = one.expected[output];
  const double mean = std::accumulate(expected.begin(), expected.end(), 0.0) / static_cast<double>(expected.size());
  std::vector<std::pair<std::string, std::vector<float>>> trivial = {
      {"all zeros", std::vector<float>(expected.size(), 0.0F)},
      {"one constant", std::vector<float>(expected.size(), static_cast<float>(mean))}};
  for (std::size_t i = 0; i < one.inputs.size(); ++i) {
    if (one.inputs[i].size() == expected.size()) {
      trivial.emplace_back("a copy of " + problem.inputs[i].name, one.inputs[i]);
    }
  }
  return trivial;
}

bool passes(const std::vector<float>& values, const CheckCase& one, std::size_t output, std::int64_t length) {
  const auto bytes = std::as_bytes(std::span(values));
  constexpr std::uint32_t k_no_poison = 0xffffffffU;
  const auto& expected = one.expected[output];
  return measure_error(bytes, k_no_poison, expected, length, one.allowed[output]).over == 0;
}

}  // namespace

Result<CheckSuite> CheckSuite::make(const Problem& problem, std::uint64_t seed, const ParallelFor& parallel) {
  CheckSuite suite;
  suite.cases_ = list_cases(problem);
  Rng rng(seed);
  for (auto& one : suite.cases_) {
    const auto& workload = problem.workloads[one.workload];
    KW_TRY(one.inputs, make_inputs(problem, workload, one.distribution, rng.next()));
    KW_TRY(one.expected, evaluate_oracle(problem, workload, one.inputs, parallel));
  }
  return suite;
}

void CheckSuite::allow_errors(const std::vector<std::vector<double>>& errors) {
  KW_CHECK(errors.size() == cases_.size(), "{} errors for {} cases", errors.size(), cases_.size());
  for (std::size_t i = 0; i < cases_.size(); ++i) {
    cases_[i].allowed.clear();
    for (const double error : errors[i]) {
      cases_[i].allowed.push_back(std::max(k_error_factor * error, k_least_allowed_error));
    }
  }
}

Result<void> CheckSuite::require_scorable(const Problem& problem) const {
  // name -> still passing everywhere
  std::vector<std::pair<std::string, bool>> suspects;
  for (const auto& one : cases_) {
    for (std::size_t output = 0; output < one.expected.size(); ++output) {
      for (const auto& [name, values] : trivial_outputs(problem, one, output)) {
        const std::string label = name + " as " + problem.outputs[output].name;
        auto found = std::find_if(suspects.begin(), suspects.end(), [&](const auto& s) { return s.first == label; });
        if (found == suspects.end()) found = suspects.insert(suspects.end(), {label, true});
        if (found->second) found->second = passes(values, one, output, row_length(problem, one, output));
      }
    }
  }
  for (const auto& [label, passing] : suspects) {
    if (passing) {
      return fail(Error{errc::unscorable,
                        fmt::format("{} cannot be scored: {} passes every check", problem.name, label),
                        "add a workload on which the answer depends on the inputs"});
    }
  }
  return {};
}

}  // namespace kw

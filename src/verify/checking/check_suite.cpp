#include "verify/checking/check_suite.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "base/rng.hpp"
#include "problem/operator.hpp"
#include "record/time_use.hpp"
#include "verify/checking/accuracy.hpp"
#include "verify/checking/case_answers.hpp"
#include "verify/checking/large_inputs.hpp"
#include "verify/checking/probes.hpp"
#include "verify/checking/sampled_rows.hpp"
#include "verify/checking/storage.hpp"

namespace kw {
namespace {

/// Where roundings of the data move a result by more than a plain kernel errs, that one was lucky: an honest kernel may
/// err by as much. By this at most, for a type of fewer bits must not hide in it: an 11-bit product errs by 5e-4.
constexpr double k_most_for_roundings = 1e-4;
/// On data that are not normal, such as inputs that are nearly equal, roundings decide more. A type of fewer bits does
/// not hide in that: every kernel is checked on normal data as well.
constexpr double k_most_on_special_data = 1e-3;

double most_for_roundings(const CheckCase& one) {
  return one.distribution == Distribution::normal ? k_most_for_roundings : k_most_on_special_data;
}

constexpr std::uint32_t k_no_poison = 0xffffffffU;  // no probe writes this NaN

/// Workloads that are too large to be run at all; the smallest never is.
std::vector<std::size_t> too_large(const Problem& problem, const WorkloadCosts& costs, double most_flops) {
  std::vector<std::size_t> large;
  if (std::isinf(most_flops)) return large;
  std::size_t smallest = 0;
  for (std::size_t w = 0; w < problem.workloads.size(); ++w) {
    const double flops = costs.of(w).steps;
    if (flops > most_flops) large.push_back(w);
    if (flops < costs.of(smallest).steps) smallest = w;
  }
  large.erase(std::remove(large.begin(), large.end(), smallest), large.end());
  return large;
}

Result<std::vector<CheckCase>> list_cases(const Problem& problem, const std::vector<std::size_t>& left_out) {
  const auto is_left_out = [&](std::size_t w) {
    return std::find(left_out.begin(), left_out.end(), w) != left_out.end();
  };
  std::vector<CheckCase> cases(is_left_out(0) ? 0 : k_timing_cases);
  // Small workloads come before the primary's other distributions: a wrong kernel is found where checking is cheap.
  for (const bool primary : {false, true}) {
    for (std::size_t w = 0; w < problem.workloads.size(); ++w) {
      if ((w == 0) != primary || is_left_out(w)) continue;
      KW_TRY(const auto distributions, distributions_for(problem, problem.workloads[w]));
      for (const auto& distribution : distributions) {
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

/// The cases that fit: of every workload one, then more of each in turn.
std::vector<CheckCase> thinned(const WorkloadCosts& costs, std::vector<CheckCase> cases, double most_flops) {
  if (std::isinf(most_flops)) return cases;
  std::map<std::size_t, std::vector<std::size_t>> of_workload;  // indices into cases
  for (std::size_t i = 0; i < cases.size(); ++i) of_workload[cases[i].workload].push_back(i);
  std::vector<bool> kept(cases.size(), false);
  double flops = 0;
  for (std::size_t round = 0; round < cases.size(); ++round) {
    for (const auto& [workload, indices] : of_workload) {
      if (round >= indices.size()) continue;
      const double more = costs.of(workload).steps;
      if (round > 0 && flops + more > most_flops) continue;
      flops += more;
      // Each begins with another distribution, so that a few workloads meet all of them.
      kept[indices[(workload + round) % indices.size()]] = true;
    }
  }
  std::vector<CheckCase> rest;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (kept[i]) rest.push_back(std::move(cases[i]));
  }
  return rest;
}

/// Whether these values would be taken for the answer.
bool passes(const Problem& problem, const std::vector<double>& values, const CheckCase& one, std::size_t output,
            const ParallelFor& parallel) {
  const auto form = one.form(problem, output);
  const auto bytes = stored(form.dtype, std::vector<float>(values.begin(), values.end()), parallel);
  const auto error =
      measure_error(bytes, k_no_poison, one.expected[output], one.scales[output], form, one.limit(output), parallel);
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
    if (!values || !passes(problem, *values, *one, output, parallel)) return false;
  }
  return true;
}

/// Of data for one case, until some tell something of a kernel.
constexpr int k_most_draws = 4;

/// False where none of the draws tells something; the last one stays.
Result<bool> draw_inputs(const Problem& problem, const InputSeeds& seeds, const ParallelFor& parallel, CheckCase& one) {
  const auto& workload = problem.workloads[one.workload];
  InputSeeds own = seeds;
  Rng others(seeds.operands);
  for (int draw = 0; draw < k_most_draws; ++draw) {
    KW_TRY(DrawnInputs drawn, make_inputs(problem, workload, one.distribution, own, parallel));
    one.inputs = std::move(drawn.values);
    one.random = std::move(drawn.random);
    if (const auto found =
            operator_of(problem).checks.conditioning(problem, workload, one.inputs, k_most_steps_asked)) {
      one.conditioning = *found;
      return true;
    }
    own.operands = others.next();
  }
  return false;
}

/// Of such a workload one thread draws the data, and finds out what they tell. Those of a larger one are drawn by all
/// threads.
bool is_small(const WorkloadCosts& costs, const CheckCase& one) {
  return costs.of(one.workload).steps <= k_most_steps_asked;
}

/// Whether the oracle will answer some rows alone, and inputs are too large to be kept.
bool is_large(const Problem& problem, const WorkloadCosts& costs, const SuiteLimits& limits, const CheckCase& one) {
  const auto& workload = problem.workloads[one.workload];
  if (is_answered_whole(whole_answer_work(problem, workload, costs.of(one.workload).steps), limits)) return false;
  double elements = 0;
  for (std::size_t i = 0; i < problem.operand_count(); ++i) {
    elements += static_cast<double>(element_count(problem.inputs[i], workload.axes).value_or(0));
  }
  return elements * sizeof(float) > limits.kept_bytes;
}

/// Draws the data of all cases that are kept; for each whether they tell something of a kernel. Nobody asks what large
/// ones tell.
Result<std::vector<bool>> draw_all(const Problem& problem, const WorkloadCosts& costs, const SuiteLimits& limits,
                                   const std::vector<InputSeeds>& seeds, const ParallelFor& parallel,
                                   TimeLedger* ledger, std::vector<CheckCase>& cases) {
  const auto drawing = TimeLedger::activity(ledger, time_activity::inputs);
  std::vector<Result<bool>> telling(cases.size(), true);
  std::vector<std::size_t> small;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (is_large(problem, costs, limits, cases[i])) continue;
    if (is_small(costs, cases[i])) {
      small.push_back(i);
    } else {
      telling[i] = draw_inputs(problem, seeds[i], parallel, cases[i]);
    }
  }
  parallel(std::ssize(small), [&](std::int64_t k) {
    const std::size_t i = small[static_cast<std::size_t>(k)];
    telling[i] = draw_inputs(problem, seeds[i], serial_for, cases[i]);
  });
  std::vector<bool> told;
  for (auto& one : telling) {
    KW_TRY(const bool tells, std::move(one));
    told.push_back(tells);
  }
  return told;
}

bool is_zero(const CheckCase& one, std::size_t output) {
  return !one.expected.empty() &&
         std::ranges::all_of(one.expected[output].numbers(), [](double value) { return value == 0; });
}

/// Of data that tell nothing, an output that is 0 throughout there, and not in every case. A kernel that writes zeros
/// would be right, and one that rounds what cancels would be wrong. What is 0 everywhere the probes find.
Result<void> require_more_than_zeros(const Problem& problem, const std::vector<CheckCase>& cases) {
  for (const CheckCase& one : cases) {
    for (std::size_t i = 0; !one.tells && i < one.expected.size(); ++i) {
      const auto& output = problem.outputs[i];
      const auto is_other = [&](const CheckCase& other) { return !other.expected.empty() && !is_zero(other, i); };
      if (!is_float(output.dtype) || !is_zero(one, i) || std::ranges::none_of(cases, is_other)) continue;
      return fail(
          Error{errc::unscorable,
                fmt::format("{} cannot be scored: every element of {} is 0 on workload {}, which timed launches "
                            "are like",
                            problem.name, output.name, problem.workloads[one.workload].name),
                "give the module sizes with which that output depends on its inputs; a softmax over one "
                "element does not"});
    }
  }
  return {};
}

Error nothing_told(const Problem& problem) {
  return Error{errc::unscorable,
               fmt::format("{} cannot be scored: on every workload that can be run here roundings of the inputs decide "
                           "the answer",
                           problem.name),
               "add a workload on which the answer is more than what is left of a cancellation"};
}

}  // namespace

Result<CheckSuite> CheckSuite::make(const Problem& problem, std::uint64_t seed, const ParallelFor& parallel,
                                    const SuiteLimits& limits, const WorkloadCosts* known_costs, TimeLedger* ledger) {
  const WorkloadCosts own_costs(problem);
  const WorkloadCosts& costs = known_costs != nullptr ? *known_costs : own_costs;
  CheckSuite suite;
  suite.left_out_ = too_large(problem, costs, limits.workload_flops);
  KW_TRY(auto listed, list_cases(problem, suite.left_out_));
  const std::size_t all = listed.size();
  listed = thinned(costs, std::move(listed), limits.suite_flops);
  suite.cases_left_out_ = all - listed.size();
  Rng rng(seed);
  const auto is_timing = [&](std::size_t i) { return listed[i].workload == 0 && i < k_timing_cases; };
  std::vector<InputSeeds> seeds;
  for (std::size_t i = 0; i < listed.size(); ++i) {
    const std::uint64_t operands = rng.next();
    seeds.push_back({operands, is_timing(i) ? k_nominal_seed : rng.next()});
  }
  KW_TRY(const auto told, draw_all(problem, costs, limits, seeds, parallel, ledger, listed));
  const auto large = std::make_shared<LargeInputs>(problem, parallel, ledger);
  for (std::size_t i = 0; i < listed.size(); ++i) {
    // What timed launches are like stays: where not even a plain kernel is near the answer, the problem is refused.
    if (!told[i] && !is_timing(i)) continue;
    CheckCase& one = listed[i];
    one.tells = told[i];
    const auto answering = TimeLedger::activity(ledger, time_activity::oracle);
    one.whole = whole_answer_work(problem, problem.workloads[one.workload], costs.of(one.workload).steps);
    if (is_answered_whole(one.whole, limits)) {
      KW_TRY_VOID(answer_whole(problem, parallel, one));
    } else {
      Rng row_choice = Rng(seeds[i].operands).split(i);
      if (is_large(problem, costs, limits, one)) {
        one.unasked = row_choice;
        one.draw = [large, workload = one.workload, distribution = one.distribution, own = seeds[i]](
                       const OperandReads* reads) { return large->draw(workload, distribution, own, reads); };
      } else {
        KW_TRY(suite.sampled_rows_, answer_rows(problem, one.whole, row_choice, parallel, one));
      }
    }
    suite.cases_.push_back(std::move(one));
  }
  suite.leave_out_untold(problem);
  if (suite.cases_.empty()) return fail(nothing_told(problem));
  return suite;
}

Result<void> CheckSuite::answer_large(const Problem& problem, std::size_t index, const ParallelFor& parallel,
                                      TimeLedger* ledger) {
  CheckCase& one = cases_[index];
  auto row_choice = std::exchange(one.unasked, std::nullopt);
  if (!row_choice) return {};
  const auto answering = TimeLedger::activity(ledger, time_activity::oracle);
  KW_TRY(sampled_rows_, answer_rows(problem, one.whole, *row_choice, parallel, one));
  return {};
}

void CheckSuite::leave_out_untold(const Problem& problem) {
  for (std::size_t w = 0; w < problem.workloads.size(); ++w) {
    const bool has_case =
        std::any_of(cases_.begin(), cases_.end(), [&](const CheckCase& one) { return one.workload == w; });
    if (has_case || std::find(left_out_.begin(), left_out_.end(), w) != left_out_.end()) continue;
    left_out_.push_back(w);
    untold_.push_back(w);
  }
}

CheckSuite::Sampled CheckSuite::sampled() const {
  const auto count = std::ranges::count_if(cases_, [](const CheckCase& one) { return !one.sampled.empty(); });
  return {static_cast<std::size_t>(count), sampled_rows_};
}

void CheckSuite::adopt(std::size_t index, Answers outputs, std::vector<OutputScales> scales,
                       std::vector<double> errors) {
  CheckCase& one = cases_[index];
  KW_CHECK(!one.sampled.empty(), "the oracle has answered case {} itself", index);
  one.expected = std::move(outputs);
  one.scales = std::move(scales);
  one.baseline_error = std::move(errors);
}

Error untold_error(const Problem& problem, const CheckCase& one) {
  const auto& workload = problem.workloads[one.workload];
  return Error{errc::unscorable,
               fmt::format("{} cannot be scored: roundings of the inputs decide the answer of workload {}, which timed "
                           "launches are like",
                           problem.name, workload.name),
               "let forward() return more than what is left of a cancellation, as a distribution's divergence from "
               "itself is"};
}

std::shared_ptr<const InputValues> inputs_of(const CheckCase& one) {
  if (!one.draw) return {std::shared_ptr<const void>(), &one.inputs};
  const auto drawn = one.draw(nullptr).value();
  return {drawn, &drawn->values};
}

double CheckCase::limit(std::size_t output) const {
  if (allowed.empty()) return std::numeric_limits<double>::infinity();
  return allowed[output] + (baseline_error.empty() ? 0.0 : baseline_error[output]);
}

OutputForm CheckCase::form(const Problem& problem, std::size_t output) const {
  OutputForm form = output_form(problem, problem.outputs[output], problem.workloads[workload].axes);
  if (!baseline_error.empty()) form.roundings = 2;
  return form;
}

double allowed_of_roundings(const CheckCase& one, double conditioning) {
  return std::min(conditioning, most_for_roundings(one));
}

void allow_roundings(CheckCase& one, double conditioning) {
  for (double& allowed : one.allowed) allowed = std::max(allowed, allowed_of_roundings(one, conditioning));
}

void CheckSuite::allow_errors(const Problem& problem, const std::vector<std::vector<double>>& errors) {
  KW_CHECK(errors.size() == cases_.size(), "{} errors for {} cases", errors.size(), cases_.size());
  for (std::size_t i = 0; i < cases_.size(); ++i) {
    KW_CHECK(!cases_[i].expected.empty(), "case {} has no answer yet", i);
    const auto& axes = problem.workloads[cases_[i].workload].axes;
    cases_[i].allowed.clear();
    cases_[i].plain_error = errors[i];
    for (std::size_t output = 0; output < errors[i].size(); ++output) {
      cases_[i].allowed.push_back(allowed_error(output_form(problem, problem.outputs[output], axes),
                                                cases_[i].expected[output].size(), errors[i][output]));
    }
    allow_roundings(cases_[i], cases_[i].conditioning);
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
  return require_more_than_zeros(problem, cases_);
}

}  // namespace kw

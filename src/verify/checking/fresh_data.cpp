#include "verify/checking/fresh_data.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "problem/operator.hpp"
#include "verify/checking/accuracy.hpp"
#include "verify/checking/error_location.hpp"
#include "verify/checking/storage.hpp"

namespace kw {
namespace {

/// What the oracle may cost per case, in useful FLOPs: a few milliseconds of a core. A kernel that leaves out a share s
/// of the rows is found out in one launch with the probability 1 - (1 - s)^rows, and the best had ten.
constexpr double k_sample_flops = 2e7;
constexpr std::int64_t k_least_rows = 32;

/// The first, the last, and others at random; ascending.
std::vector<std::int64_t> choose_rows(std::int64_t rows, double flops, Rng& rng) {
  const double share = k_sample_flops / std::max(flops, 1.0);
  const double affordable = std::min(share, 1.0) * static_cast<double>(rows);
  const std::int64_t wanted = std::max(k_least_rows, static_cast<std::int64_t>(affordable));
  std::vector<std::int64_t> chosen;
  if (wanted >= rows) {
    for (std::int64_t row = 0; row < rows; ++row) chosen.push_back(row);
    return chosen;
  }
  std::set<std::int64_t> some = {0, rows - 1};
  while (std::ssize(some) < wanted) some.insert(rng.below(rows));
  return {some.begin(), some.end()};
}

std::string worst_element(const TensorSpec& tensor, const Axes& axes, const AnswerSample& sample,
                          const OutputError& error, std::span<const std::byte> bytes) {
  const auto at = std::find(sample.elements.begin(), sample.elements.end(), error.worst);
  if (at == sample.elements.end()) return "";
  const double expected = sample.values[static_cast<std::size_t>(at - sample.elements.begin())];
  return fmt::format("new data: {} of {} sampled elements are over the limit; {}: expected {:.6g}, got {:.6g}",
                     error.over, sample.elements.size(), coordinates(tensor, axes, error.worst), expected,
                     stored_element(tensor.dtype, bytes, static_cast<std::size_t>(error.worst)));
}

}  // namespace

FreshCase draw_fresh(const Problem& problem, const CheckCase& like, const WorkloadCosts& costs, Rng& rng,
                     const ParallelFor& parallel) {
  const Workload& workload = problem.workloads[like.workload];
  FreshCase fresh;
  fresh.one.workload = like.workload;
  fresh.one.inputs = draw_operands(problem, workload, Distribution::normal, rng, parallel);
  for (std::size_t i = 0; i < fresh.one.inputs.size(); ++i) round_to(problem.inputs[i].dtype, fresh.one.inputs[i]);
  const auto captures = like.inputs.begin() + static_cast<std::ptrdiff_t>(problem.operand_count());
  fresh.one.inputs.insert(fresh.one.inputs.end(), captures, like.inputs.end());
  const OracleSampling& sampling = operator_of(problem).sampling;
  const auto rows = choose_rows(sampling.rows(problem, workload.axes), costs.of(like.workload).flops, rng);
  fresh.answers = sampling.answer(problem, workload.axes, fresh.one.inputs, rows, parallel);
  return fresh;
}

std::optional<CaseFailure> judge_fresh(const Problem& problem, const CheckCase& like, const FreshCase& fresh,
                                       const CaseRun& run, const Poison& poison) {
  const Axes& axes = problem.workloads[like.workload].axes;
  for (std::size_t output = 0; output < run.outputs.size(); ++output) {
    const TensorSpec& tensor = problem.outputs[output];
    const AnswerSample& sample = fresh.answers[output];
    const double allowed = like.allowed.empty() ? std::numeric_limits<double>::infinity() : like.allowed[output];
    const OutputForm form = output_form(problem, tensor, axes);
    const OutputError error =
        measure_sample(run.outputs[output], poison.outputs, sample, like.scales[output], form, allowed);
    if (error.unwritten > 0) {
      return CaseFailure{Reason::output_unwritten, fmt::format("{} has elements that were never written", tensor.name),
                         fmt::format("{} elements unwritten", error.unwritten)};
    }
    if (error.not_finite > 0) {
      return CaseFailure{Reason::not_finite, fmt::format("{} has NaN or infinite elements", tensor.name),
                         fmt::format("{} such elements", error.not_finite)};
    }
    if (error.over > 0) {
      return CaseFailure{Reason::wrong_result, fmt::format("{} is wrong", tensor.name),
                         worst_element(tensor, axes, sample, error, run.outputs[output])};
    }
  }
  return std::nullopt;
}

}  // namespace kw

#include "verify/checking/doubted_rows.hpp"

#include <algorithm>

#include "problem/operator.hpp"

namespace kw {
namespace {

/// As much as the oracle answers whole: about a second of two cores.
constexpr AnswerWork k_most_doubted{4e9, 16e6};

bool affordable(const AnswerWork& whole, std::size_t rows, std::int64_t all) {
  const double share = static_cast<double>(rows) / static_cast<double>(all);
  return share * whole.flops <= k_most_doubted.flops && share * whole.elements <= k_most_doubted.elements;
}

}  // namespace

std::optional<OutputError> ask_about_doubted_rows(const Problem& problem, const CheckCase& one, std::size_t output,
                                                  std::span<const std::byte> bytes, std::uint32_t poison,
                                                  const ParallelFor& parallel) {
  if (one.sampled.empty()) return std::nullopt;
  const Axes& axes = problem.workloads[one.workload].axes;
  const OracleSampling& sampling = operator_of(problem).sampling;
  const OutputForm form = one.form(problem, output);
  const std::int64_t all = sampling.rows(problem, axes, one.whole).rows;
  // Rows of the oracle are those of the output that has most of them.
  if (std::ssize(one.scales[output].rows) != all) return std::nullopt;
  const DoubtedRows doubted =
      rows_over(bytes, poison, one.expected[output], one.scales[output], form, one.limit(output), parallel);
  if (!affordable(one.whole, doubted.rows.size(), all)) return std::nullopt;
  const auto answers = sampling.answer(problem, axes, *inputs_of(one), doubted.rows, parallel);
  const OutputForm exact = output_form(problem, problem.outputs[output], axes);
  OutputError error =
      measure_sample(bytes, poison, answers[output], one.scales[output], exact, one.allowed[output], parallel);
  if (doubted.error_of_others <= error.max_error) return error;
  error.max_error = doubted.error_of_others;
  error.worst = doubted.worst_of_others;
  return error;
}

}  // namespace kw

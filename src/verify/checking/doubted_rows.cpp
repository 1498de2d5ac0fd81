#include "verify/checking/doubted_rows.hpp"

#include <algorithm>

#include "problem/operator.hpp"

namespace kw {
namespace {

/// As much as the oracle answers whole: about a second of two cores.
constexpr AnswerWork k_most_doubted{4e9, 16e6};

double worst_of(const std::vector<DoubtedRow>& rows) {
  double worst = 0;
  for (const DoubtedRow& row : rows) worst = std::max(worst, row.error);
  return worst;
}

}  // namespace

double DoubtedLimits::allowed(double plain) const {
  return std::max(known, allowed_error(form, elements, plain));
}

bool DoubtedLimits::could_both_be_right(double difference) const {
  const double worst_plain = form.tolerance.worst_plain_error;
  return difference <= allowed(worst_plain) + worst_plain;
}

std::vector<std::int64_t> worst_rows(std::vector<DoubtedRow> rows, std::int64_t most) {
  std::ranges::sort(rows, std::ranges::greater(), &DoubtedRow::error);
  rows.resize(std::min(rows.size(), static_cast<std::size_t>(most)));
  std::vector<std::int64_t> worst;
  for (const DoubtedRow& row : rows) worst.push_back(row.row);
  std::ranges::sort(worst);
  return worst;
}

std::optional<AskedError> ask_about_doubted_rows(const Problem& problem, const CheckCase& one, std::size_t output,
                                                 std::span<const std::byte> bytes, std::uint32_t poison,
                                                 const ParallelFor& parallel) {
  if (one.sampled.empty()) return std::nullopt;
  const Axes& axes = problem.workloads[one.workload].axes;
  const OracleSampling& sampling = operator_of(problem).sampling;
  const AnswerRows all = sampling.rows(problem, axes, one.whole);
  const OutputScales& scales = one.scales[output];
  // Rows of the oracle are those of the output that has most of them.
  if (std::ssize(scales.rows) != all.rows) return std::nullopt;
  const DoubtedRows doubted =
      rows_over(bytes, poison, one.expected[output], scales, one.form(problem, output), one.limit(output), parallel);
  const OutputForm exact = output_form(problem, problem.outputs[output], axes);
  const DoubtedLimits limits{exact, one.expected[output].size(), one.allowed[output]};
  if (!limits.could_both_be_right(worst_of(doubted.rows))) return std::nullopt;
  const auto rows = worst_rows(doubted.rows, rows_paid_for(all, k_most_doubted));
  if (rows.empty()) return std::nullopt;
  const auto answers = sampling.answer(problem, axes, *inputs_of(one), rows, parallel);
  const AnswerSample& answer = answers[output];
  const double plain =
      std::max(one.baseline_error[output], error_in_sample(one.expected[output], answer, scales, exact));
  if (plain > exact.tolerance.worst_plain_error) return std::nullopt;
  const double allowed = limits.allowed(plain);
  AskedError asked{measure_sample(bytes, poison, answer, scales, exact, allowed, parallel), allowed + plain};
  if (doubted.error_of_others > asked.error.max_error) {
    asked.error.max_error = doubted.error_of_others;
    asked.error.worst = doubted.worst_of_others;
  }
  return asked;
}

}  // namespace kw

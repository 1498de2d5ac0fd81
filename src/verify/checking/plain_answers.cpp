#include "verify/checking/plain_answers.hpp"

#include <algorithm>
#include <optional>

#include "problem/operator.hpp"
#include "verify/checking/doubted_rows.hpp"
#include "verify/checking/storage.hpp"

namespace kw {
namespace {

constexpr std::int64_t k_compared = 262144;      // elements of an output
constexpr std::int64_t k_least_of_block = 1024;  // of rows that are shorter
constexpr std::int64_t k_longest_row = 4096;     // that is a block as a whole
/// Of one output: no more than of any launch that the oracle answers.
constexpr std::int64_t k_most_rows_asked = k_least_rows;

std::int64_t length_of_block(std::int64_t row_length) {
  if (row_length > k_longest_row) return k_longest_row;
  return (k_least_of_block + row_length - 1) / row_length * row_length;
}

/// Which row of the oracle's an element is in; nothing where they are not those of this output, nor its elements.
std::optional<std::int64_t> oracle_row_of(const AnswerRows& rows, std::int64_t element, std::int64_t elements,
                                          std::int64_t row_length) {
  if (rows.rows * row_length == elements) return element / row_length;
  return rows.rows == elements ? std::optional(element) : std::nullopt;
}

/// The oracle's rows that these elements are in. Nothing where one of them is in none.
std::optional<std::vector<DoubtedRow>> rows_of(const std::vector<DoubtedElement>& missed, const AnswerRows& rows,
                                               std::int64_t elements, std::int64_t row_length) {
  std::vector<DoubtedRow> found;
  for (const DoubtedElement& one : missed) {
    const auto row = oracle_row_of(rows, one.element, elements, row_length);
    if (!row) return std::nullopt;
    if (found.empty() || found.back().row != *row) found.push_back({*row, 0});
    found.back().error = std::max(found.back().error, one.error);
  }
  return found;
}

/// Of the oracle's answer, the elements that were looked at: no others came back from the device.
AnswerSample looked_at(const AnswerSample& answer, const AnswerSample& compared) {
  AnswerSample both;
  for (std::size_t i = 0; i < answer.elements.size(); ++i) {
    if (!std::ranges::binary_search(compared.elements, answer.elements[i])) continue;
    both.elements.push_back(answer.elements[i]);
    both.values.push_back(answer.values[i]);
  }
  return both;
}

/// An output that is over the limit, and the oracle's rows to ask about.
struct Missed {
  std::size_t output = 0;
  std::vector<std::int64_t> rows;
};

DoubtedLimits doubted_limits(const Problem& problem, std::span<const CheckCase> alike, const FreshCase& fresh,
                             std::size_t output) {
  const CheckCase& like = alike.front();
  return {output_form(problem, problem.outputs[output], problem.workloads[like.workload].axes),
          like.expected[output].size(), fresh_limit(alike, fresh, Answerer::oracle, output)};
}

/// Nothing where nobody is to be asked.
std::optional<Missed> missed_in(const Problem& problem, std::span<const CheckCase> alike, const FreshCase& fresh,
                                std::size_t output, std::span<const std::byte> bytes) {
  const CheckCase& like = alike.front();
  const auto over = elements_over(bytes, fresh.answers[output], like.scales[output], fresh_form(problem, fresh, output),
                                  fresh_limit(alike, fresh, Answerer::plain, output));
  if (over.empty()) return Missed{output, {}};
  const DoubtedLimits limits = doubted_limits(problem, alike, fresh, output);
  const double worst = std::ranges::max(over, {}, &DoubtedElement::error).error;
  if (!limits.could_both_be_right(worst)) return std::nullopt;
  const AnswerRows all = operator_of(problem).sampling.rows(problem, problem.workloads[like.workload].axes, like.whole);
  auto rows = rows_of(over, all, static_cast<std::int64_t>(limits.elements), limits.form.row_length);
  if (!rows) return std::nullopt;
  return Missed{output, worst_rows(*std::move(rows), k_most_rows_asked)};
}

/// `fresh` has all operands.
bool agrees_with_oracle(const Problem& problem, std::span<const CheckCase> alike, const FreshCase& fresh,
                        const Missed& missed, std::span<const std::byte> bytes, std::span<const std::byte> plain,
                        const ParallelFor& parallel) {
  const CheckCase& like = alike.front();
  const Axes& axes = problem.workloads[like.workload].axes;
  const auto answers = operator_of(problem).sampling.answer(problem, axes, fresh.one.inputs, missed.rows, parallel);
  const AnswerSample answer = looked_at(answers[missed.output], fresh.answers[missed.output]);
  const DoubtedLimits limits = doubted_limits(problem, alike, fresh, missed.output);
  const OutputScales& scales = like.scales[missed.output];
  const double plain_error = error_in_sample({limits.form.dtype, plain}, answer, scales, limits.form);
  if (plain_error > limits.form.tolerance.worst_plain_error) return false;
  return elements_over(bytes, answer, scales, limits.form, limits.allowed(plain_error)).empty();
}

}  // namespace

std::vector<AnswerSample> places_to_compare(const Problem& problem, const Axes& axes, Rng& rng) {
  std::vector<AnswerSample> places;
  for (const TensorSpec& output : problem.outputs) {
    const auto counted = element_count(output, axes);
    KW_CHECK(counted.has_value(), "{} was never checked", output.name);
    const std::int64_t elements = *counted;
    const std::int64_t length = length_of_block(row_length_of(output, axes));
    AnswerSample& sample = places.emplace_back();
    for (const std::int64_t block : some_of((elements + length - 1) / length, k_compared / length, rng)) {
      const std::int64_t end = std::min(elements, (block + 1) * length);
      for (std::int64_t element = block * length; element < end; ++element) sample.elements.push_back(element);
    }
  }
  return places;
}

void take_answers(const Problem& problem, const OutputBytes& plain, FreshCase& fresh) {
  for (std::size_t output = 0; output < plain.size(); ++output) {
    AnswerSample& sample = fresh.answers[output];
    sample.values.clear();
    sample.values.reserve(sample.elements.size());
    AnswerView(problem.outputs[output].dtype, plain[output]).with_numbers([&](const auto& number) {
      for (const std::int64_t element : sample.elements) {
        sample.values.push_back(number(static_cast<std::size_t>(element)));
      }
    });
  }
}

bool is_right_after_all(const Problem& problem, std::span<const CheckCase> alike, FreshCase& fresh,
                        const OutputBytes& outputs, const OutputBytes& plain, const ParallelFor& parallel) {
  std::vector<Missed> all;
  for (std::size_t output = 0; output < outputs.size(); ++output) {
    auto missed = missed_in(problem, alike, fresh, output, outputs[output]);
    if (!missed) return false;
    if (!missed->rows.empty()) all.push_back(*std::move(missed));
  }
  draw_again(problem, alike.front(), fresh, parallel);
  return std::ranges::all_of(all, [&](const Missed& missed) {
    return agrees_with_oracle(problem, alike, fresh, missed, outputs[missed.output], plain[missed.output], parallel);
  });
}

}  // namespace kw

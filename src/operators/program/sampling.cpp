// Which elements of a program's answer the oracle is asked for, and what they follow from.

#include <algorithm>
#include <map>
#include <span>
#include <vector>

#include "operators/program/oracle/oracle.hpp"
#include "operators/program/oracle_glue.hpp"
#include "operators/program/parts.hpp"
#include "operators/program/program_detail.hpp"
#include "operators/program/shared_axes.hpp"
#include "operators/program/steps.hpp"

namespace kw {
namespace {

/// Elements that a row may follow from: of one that takes more, no more than the fewest rows can be answered.
constexpr double k_most_of_row = 65536;
/// Slices of an answer whose rows share what takes long, at least.
constexpr std::int64_t k_fewest_slices = 8;
/// Elements that all of an answer with one axis may follow from: of one that takes more, some elements are answered.
constexpr double k_most_of_answer = 1 << 20;

/// Row `row` of `rows`, of an output that has another number of rows.
std::int64_t row_of_output(std::int64_t row, std::int64_t rows, std::int64_t output_rows) {
  __extension__ using Wide = __int128;
  return static_cast<std::int64_t>(static_cast<Wide>(row) * output_rows / rows);
}

/// How the elements of the outputs are divided. A row is one of the output that has most of them, and of the others the
/// one at the same share of their rows; or an element, where those of a row have nothing in common.
class RowDivision {
 public:
  RowDivision(const Problem& problem, const Axes& axes, const RowCost& cost)
      : problem_(problem), axes_(axes), by_element_(cost.by_element) {
    for (const auto& output : problem.outputs) rows_ = std::max(rows_, rows_of(output));
  }

  [[nodiscard]] std::int64_t rows() const { return rows_; }

  /// The elements of these rows in each output.
  [[nodiscard]] std::vector<WantedElements> elements_in(std::span<const std::int64_t> rows) const {
    std::vector<WantedElements> wanted;
    for (std::size_t i = 0; i < problem_.outputs.size(); ++i) {
      const std::int64_t length = length_of(problem_.outputs[i]);
      const std::int64_t own = rows_of(problem_.outputs[i]);
      WantedElements& one = wanted.emplace_back(WantedElements{program_detail(problem_).outputs[i], {}});
      std::int64_t last = -1;
      for (const std::int64_t row : rows) {
        const std::int64_t mine = row_of_output(row, rows_, own);
        if (mine == last) continue;
        last = mine;
        for (std::int64_t column = 0; column < length; ++column) one.elements.push_back(mine * length + column);
      }
    }
    return wanted;
  }
  [[nodiscard]] TwoRows two(std::int64_t first, std::int64_t other) const {
    return {elements_in(std::span(&first, 1)), elements_in(std::span(&other, 1))};
  }

 private:
  [[nodiscard]] std::int64_t length_of(const TensorSpec& output) const {
    return by_element_ ? 1 : row_length_of(output, axes_);
  }
  [[nodiscard]] std::int64_t rows_of(const TensorSpec& output) const {
    const auto elements = element_count(output, axes_);
    KW_CHECK(elements.has_value(), "{} was never checked", output.name);
    return *elements / length_of(output);
  }

  const Problem& problem_;
  const Axes& axes_;
  bool by_element_;
  std::int64_t rows_ = 1;
};

/// What a row in the middle takes after another one, which pays for what all of them follow from.
double elements_of_row(const Problem& problem, const Axes& axes, const RowCost& as) {
  const RowDivision division(problem, axes, as);
  const auto two = division.two(division.rows() / 5, division.rows() / 2);
  const auto elements = elements_asked_for(checked_program(problem, axes)->graph, two, k_most_of_row);
  KW_CHECK(elements.has_value(), "{}", elements.error().to_string());
  return *elements;
}

/// Of outputs with one axis, elements are rows where all of them together take long.
RowCost row_cost_of_elements(const Problem& problem, const Axes& axes) {
  RowCost cost;
  cost.by_element = true;
  const std::int64_t rows = RowDivision(problem, axes, cost).rows();
  if (rows > k_least_rows) cost.elements = elements_of_row(problem, axes, cost);
  return cost.elements * static_cast<double>(rows) > k_most_of_answer ? cost : RowCost();
}

RowCost find_row_cost(const Problem& problem, const Axes& axes) {
  const std::size_t rank = problem.outputs.front().axes.size();
  if (rank == 1) return row_cost_of_elements(problem, axes);
  RowCost cost;
  if (RowDivision(problem, axes, cost).rows() <= k_least_rows) return cost;
  cost.elements = elements_of_row(problem, axes, cost);
  if (cost.elements * k_least_rows <= k_work_of_launch.elements) return cost;
  cost.sharing = shared_axes(problem, false);
  if (!cost.sharing.empty() || cost.elements < k_most_of_row) return cost;
  // Elements of a row may have nothing in common where a whole one follows from everything.
  cost.sharing = shared_axes(problem, true);
  cost.by_element = std::ranges::find(cost.sharing, rank - 1) != cost.sharing.end();
  if (!cost.by_element) cost.sharing.clear();
  return cost;
}

/// Found out once.
RowCost row_cost_of(const Problem& problem, const Axes& axes) {
  ProgramReadings& readings = *program_detail(problem).readings;
  if (auto known = readings.row_cost(axes)) return *std::move(known);
  RowCost cost = find_row_cost(problem, axes);
  readings.keep_row_cost(axes, cost);
  return cost;
}

/// As many slices as have the fewest rows.
std::int64_t fewest_slices(const AxisSlices& slices, std::int64_t rows) {
  const std::int64_t places = rows / slices.count();
  return std::max(k_fewest_slices, (k_least_rows + places - 1) / places);
}

AnswerRows rows_of_program(const Problem& problem, const Axes& axes, const AnswerWork& whole) {
  const RowCost cost = row_cost_of(problem, axes);
  const std::int64_t rows = RowDivision(problem, axes, cost).rows();
  if (cost.sharing.empty()) {
    const double apart = std::max(whole.elements, static_cast<double>(rows) * cost.elements);
    return {.rows = rows, .apart = {whole.flops, apart}};
  }
  const AxisSlices slices(problem.outputs.front(), axes, cost.sharing, cost.by_element);
  return {.rows = rows,
          .slices = slices.count(),
          .fewest_slices = fewest_slices(slices, rows),
          .most_slices = std::max(k_least_rows, fewest_slices(slices, rows)),
          .apart = whole,
          .row_of = [slices](std::int64_t slice, std::int64_t place) { return slices.row_of(slice, place); }};
}

/// Found out with the first rows that are asked for.
OnTheWay way_to(const Problem& problem, const Axes& axes, const std::map<std::size_t, LeafElements>& leaves,
                std::span<const std::int64_t> rows) {
  ProgramReadings& readings = *program_detail(problem).readings;
  if (const auto known = readings.takes_tensors(axes)) return *known ? OnTheWay::tensors : OnTheWay::elements;
  const RowCost cost = row_cost_of(problem, axes);
  const RowDivision division(problem, axes, cost);
  const auto program = checked_program(problem, axes);
  const bool shares = !cost.sharing.empty();
  const auto two =
      shares ? division.two(rows.front(), rows.back()) : division.two(rows[rows.size() / 3], rows[rows.size() * 2 / 3]);
  std::int64_t alike = std::ssize(rows);
  if (shares) {
    const AxisSlices slices(problem.outputs.front(), axes, cost.sharing, cost.by_element);
    alike = fewest_slices(slices, division.rows());
  }
  const auto faster = faster_on_the_way(program->graph, leaves, two, alike,
                                        [&](const Node& node) { return steps_of(program->graph, node); });
  KW_CHECK(faster.has_value(), "{}", faster.error().to_string());
  readings.keep_takes_tensors(axes, *faster == OnTheWay::tensors);
  return *faster;
}

std::vector<AnswerSample> sample_of_rows(const Problem& problem, const Axes& axes, const InputValues& inputs,
                                         std::span<const std::int64_t> rows, const ParallelFor& parallel) {
  const auto program = checked_program(problem, axes);
  const auto leaves = given_leaves(program_detail(problem), *program, inputs);
  const RowCost cost = row_cost_of(problem, axes);
  auto wanted = RowDivision(problem, axes, cost).elements_in(rows);
  auto answers = evaluate_elements(program->graph, leaves, wanted, parallel, way_to(problem, axes, leaves, rows));
  KW_CHECK(answers.has_value(), "{}", answers.error().to_string());
  std::vector<AnswerSample> samples;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    samples.push_back({std::move(wanted[i].elements), std::move((*answers)[i])});
  }
  return samples;
}

/// Not of what roundings may be asked about, which looks at everything.
std::optional<OperandReads> reads_of_rows(const Problem& problem, const Axes& axes,
                                          std::span<const std::int64_t> rows) {
  const auto program = checked_program(problem, axes);
  if (steps_of(program->graph) <= k_most_steps_asked_in_doubt) return std::nullopt;
  const auto wanted = RowDivision(problem, axes, row_cost_of(problem, axes)).elements_in(rows);
  const auto reads = leaf_reads(program->graph, wanted, program_detail(problem).inputs);
  KW_CHECK(reads.has_value(), "{}", reads.error().to_string());
  return *reads;
}

}  // namespace

OracleSampling program_sampling() {
  return {.rows = rows_of_program, .answer = sample_of_rows, .reads = reads_of_rows};
}

}  // namespace kw

#include "tests/seams/row_sum/row_sum.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "problem/file/problem_mod.hpp"
#include "problem/file/problem_reader.hpp"
#include "tests/seams/row_sum/styles.hpp"

namespace kw {
namespace {

struct RowSumSpec final : OperatorDetail {
  std::int64_t chunk = 0;  ///< 0: the whole row
};

std::int64_t columns_of(const Problem& problem, const Axes& axes) {
  return row_length_of(problem.inputs[0], axes);
}
/// Elements of a row that one element of Y sums up, but for the last.
std::int64_t chunk_of(const Problem& problem, const Axes& axes) {
  const std::int64_t chunk = row_sum_chunk(problem);
  return chunk == 0 ? columns_of(problem, axes) : chunk;
}

Result<std::vector<std::string>> read_axes(const ConfigValue& table, const Problem& problem) {
  const auto* value = table.find("axes");
  if (value == nullptr) {
    return fail(
        Error{errc::problem_missing_key, "[row_sum] lacks axes", "add a line such as: axes = [\"N\"]", table.where});
  }
  KW_TRY_VOID(check_kind(*value, "'axes'", ConfigKind::array));
  std::vector<std::string> axes;
  for (const auto& item : value->items) {
    KW_TRY_VOID(check_kind(item, "an axis", ConfigKind::text));
    const auto& own = problem.own_axes;
    if (std::find(own.begin(), own.end(), item.text) == own.end()) {
      return fail(Error{errc::problem_value, fmt::format("[axes] has no '{}'", item.text), "give it an extent there",
                        item.where});
    }
    axes.push_back(item.text);
  }
  if (!axes.empty()) return axes;
  return fail(Error{errc::problem_value, "X has no axis to sum over", "name at least one", value->where});
}

Result<void> read_row_sum(const ConfigValue& root, ModuleFiles* /*beside*/, Problem& problem) {
  const auto* table = root.find("row_sum");
  if (table == nullptr) {
    return fail(Error{errc::problem_missing_key, "[row_sum] is missing", "add it, with: axes = [\"N\"]", root.where});
  }
  KW_TRY_VOID(check_kind(*table, "'row_sum'", ConfigKind::table));
  KW_TRY_VOID(check_keys(*table, "[row_sum]", {"axes", "chunk"}));
  KW_TRY(auto axes, read_axes(*table, problem));
  RowSumSpec spec;
  // A sum may cancel, as a logarithm does near 0: its error is judged relative to at least one element's size.
  TensorSpec sums{"Y", DType::f32, {axes.begin(), axes.end() - 1}, 1.0};
  if (const auto* chunk = table->find("chunk")) {
    KW_TRY_VOID(check_kind(*chunk, "'chunk'", ConfigKind::integer));
    KW_TRY_VOID(check_extent("chunk", chunk->integer));
    spec.chunk = chunk->integer;
    problem.derived_axes = {{"Chunks", fmt::format("ceil_div({}, {})", axes.back(), spec.chunk)}};
    sums.axes.emplace_back("Chunks");
  }
  problem.inputs = {{"X", DType::f32, std::move(axes)}};
  problem.outputs = {std::move(sums)};
  problem.detail = std::make_shared<const RowSumSpec>(spec);
  return {};
}

OutputValues row_sum_oracle(const Problem& problem, const Axes& axes, const InputValues& inputs, const ParallelFor&) {
  const auto columns = static_cast<std::size_t>(columns_of(problem, axes));
  const auto chunk = static_cast<std::size_t>(chunk_of(problem, axes));
  const auto& x = inputs[0];
  std::vector<double> sums;
  for (std::size_t row = 0; row < x.size(); row += columns) {
    for (std::size_t first = 0; first < columns; first += chunk) {
      double sum = 0;
      for (std::size_t i = first; i < std::min(first + chunk, columns); ++i) sum += static_cast<double>(x[row + i]);
      sums.push_back(sum);
    }
  }
  return {std::move(sums)};
}

WorkloadCost row_sum_cost(const Problem& problem, const Workload& workload) {
  const auto elements = static_cast<double>(element_count(problem.inputs[0], workload.axes).value());
  const auto sums = static_cast<double>(element_count(problem.outputs[0], workload.axes).value());
  return {elements, 4.0 * (elements + sums), elements};
}

/// A row of an answer is one sum.
AnswerRows row_sum_rows(const Problem& problem, const Axes& axes, const AnswerWork& whole) {
  const std::int64_t rows = element_count(problem.outputs[0], axes).value();
  return {.rows = rows, .slices = rows, .fewest_slices = rows, .most_slices = rows, .apart = whole};
}

std::vector<AnswerSample> row_sum_sample(const Problem& problem, const Axes& axes, const InputValues& inputs,
                                         std::span<const std::int64_t> rows, const ParallelFor&) {
  const std::int64_t columns = columns_of(problem, axes);
  const std::int64_t chunk = chunk_of(problem, axes);
  const std::int64_t chunks = (columns + chunk - 1) / chunk;
  AnswerSample sums{{rows.begin(), rows.end()}, {}};
  for (const std::int64_t row : rows) {
    const std::int64_t first = row % chunks * chunk;
    const auto begin = inputs[0].begin() + row / chunks * columns + first;
    sums.values.push_back(std::accumulate(begin, begin + std::min(chunk, columns - first), 0.0));
  }
  return {std::move(sums)};
}

/// The chunk of each sum.
std::optional<OperandReads> row_sum_reads(const Problem& problem, const Axes& axes,
                                          std::span<const std::int64_t> rows) {
  const std::int64_t columns = columns_of(problem, axes);
  const std::int64_t chunk = chunk_of(problem, axes);
  const std::int64_t chunks = (columns + chunk - 1) / chunk;
  OperandReads reads(1);
  for (const std::int64_t row : rows) {
    const std::int64_t first = row % chunks * chunk;
    const std::int64_t begin = row / chunks * columns + first;
    reads[0].push_back({begin, begin + std::min(chunk, columns - first)});
  }
  return reads;
}

Tolerance row_sum_tolerance(const Problem&, DType dtype, std::int64_t row_length) {
  const auto length = static_cast<double>(row_length);
  return {.error_factor = 4.0,
          .least_error = 32.0 * unit_roundoff(dtype),
          .tensor_share = std::max(0.001, 0.25 / (length * length)),
          .worst_plain_error = 1e-3};
}

/// The last element of every chunk outweighs the others: whoever drops it is far off.
void weigh_last(const Problem& problem, const Workload& workload, const CaptureData&, InputValues& operands, Rng&,
                const ParallelFor&) {
  const std::int64_t columns = columns_of(problem, workload.axes);
  const std::int64_t chunk = chunk_of(problem, workload.axes);
  auto& x = operands[0];
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(x.size()); ++i) {
    const std::int64_t column = i % columns;
    if (column % chunk == chunk - 1 || column == columns - 1) x[static_cast<std::size_t>(i)] *= 64.0F;
  }
}

std::optional<DrawRule> no_rule(const Problem&, const Workload&, std::size_t) {
  return std::nullopt;
}

const std::vector<OwnDistribution>& row_sum_distributions() {
  static const std::vector<OwnDistribution> all = {
      {"heavy_end", [](const Problem&, const Workload&) -> Result<bool> { return true; }, no_rule, weigh_last,
       no_first_elements}};
  return all;
}

/// The first element of each row, where Y has one element per row.
std::optional<std::vector<double>> first_elements(const AnsweredCase& one, std::size_t input, std::size_t output) {
  const auto columns = static_cast<std::size_t>(columns_of(one.problem, one.axes));
  if (one.inputs[input].size() / columns != one.expected[output].size()) return std::nullopt;
  std::vector<double> firsts;
  for (std::size_t row = 0; row < one.inputs[input].size(); row += columns) {
    firsts.push_back(static_cast<double>(one.inputs[input][row]));
  }
  return firsts;
}

std::vector<OwnProbe> row_sum_probes(const Problem&) {
  return {{"the first element of each row of X", "add a workload with more than one column", 0, first_elements}};
}

OperatorChecks row_sum_checks() {
  return {
      .rule = no_rule,
      .settle = [](const Problem&, const Workload&, InputValues&, Rng&, const ParallelFor&) {},
      .settles = [](const Problem&, const Workload&, std::size_t) { return false; },
      .may_be_idle = [](const Problem&, std::size_t) { return false; },
      .conditioning = [](const Problem&, const Workload&, const InputValues&, double) { return std::optional(0.0); },
      .distributions = row_sum_distributions,
      .tolerance = row_sum_tolerance,
      .probes = row_sum_probes,
      .how_to_depend = [](std::string_view operand) { return fmt::format("sum over {}", operand); },
      .how_to_be_finite = [] { return std::string("keep the sums within double precision"); }};
}

OperatorFormat row_sum_format() {
  return {.op = "row_sum",
          .axes = {},
          .reserved = " Chunks GROUP X Y ",
          .default_axes = [](Axes&) {},
          .check_axes = [](const Problem&, const Axes&) -> Result<void> { return {}; },
          .read = read_row_sum,
          .canonical = [](const Problem& problem) { return fmt::format("chunk {}\n", row_sum_chunk(problem)); },
          .functions = [](const Problem&) { return std::vector<UserFunction>(); },
          .with_mod = refuse_mod,
          .from_module = refuse_module};
}

std::span<const EmbeddedText> row_sum_texts() {
  static constexpr EmbeddedText k_texts[] = {
      {"operation", "Y = the sum of X over its last axis{{#chunk}}, in chunks of {{chunk}} elements{{/chunk}}.\n"},
      {"sizes", "one row, one column, rows that are no multiple of anything\n"},
      {"distributions", "{{#heavy_end}}\n*heavy_end*, a last element that outweighs its chunk\n{{/heavy_end}}\n"},
      {"precision", "Sums in f16 are outside of that.\n"},
      {"strategies", "- Give each row to one work-group, and let its items add up parts of it.\n"},
      {"steps", "{{#inner_loop}}\nadd with several accumulators.\n{{/inner_loop}}\n"},
      {"reasons",
       "{{#wrong_result}}\nlast rows or columns mean a tail that is not handled.\n{{/wrong_result}}\n"
       "{{#not_finite}}\nLook for reads past the end of X.\n{{/not_finite}}\n"
       "{{#output_unwritten}}\nEvery row has a sum.\n{{/output_unwritten}}\n"}};
  return k_texts;
}

std::map<std::string, std::string, std::less<>> row_sum_values(const Problem& problem) {
  const std::int64_t chunk = row_sum_chunk(problem);
  return {{"chunk", chunk == 0 ? "" : std::to_string(chunk)}};
}

Result<Explanation> explain_row_sum(const Problem& problem) {
  const std::int64_t columns = columns_of(problem, problem.primary().axes);
  return Explanation{.counted = "of additions",
                     .lines = {fmt::format("each sum has {} terms at most", chunk_of(problem, problem.primary().axes))},
                     .fields = {{"columns", {columns}}}};
}

}  // namespace

std::int64_t row_sum_chunk(const Problem& problem) {
  const auto* spec = dynamic_cast<const RowSumSpec*>(problem.detail.get());
  KW_CHECK(spec != nullptr, "operator {}", problem.op);
  return spec->chunk;
}

const Operator& row_sum_operator() {
  static const Operator k_operator = {.format = row_sum_format(),
                                      .cost = row_sum_cost,
                                      .checks = row_sum_checks(),
                                      .oracle = row_sum_oracle,
                                      .sampling = {row_sum_rows, row_sum_sample, row_sum_reads},
                                      .prompts = {.texts = row_sum_texts,
                                                  .placeholders = [] { return std::vector<std::string>{"chunk"}; },
                                                  .values = row_sum_values},
                                      .explain = explain_row_sum,
                                      .styles = row_sum_styles};
  return k_operator;
}

}  // namespace kw

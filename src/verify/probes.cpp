#include "verify/probes.hpp"

#include <algorithm>
#include <cmath>

namespace kw {
namespace {

constexpr const char* k_add_workload = "add a workload on which the answer depends on the inputs";

std::int64_t extent_of(const Axes& axes, const std::string& axis) {
  return axes.find(axis)->second;
}

/// For each column the mean of its finite elements; one column of all elements when `columns` is 1.
std::vector<double> column_means(const std::vector<double>& values, std::size_t columns) {
  std::vector<double> sums(columns, 0.0);
  std::vector<double> counts(columns, 0.0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) continue;
    sums[i % columns] += values[i];
    counts[i % columns] += 1;
  }
  for (std::size_t c = 0; c < columns; ++c) sums[c] = counts[c] > 0 ? sums[c] / counts[c] : 0.0;
  return sums;
}

std::vector<double> repeated(const std::vector<double>& row, std::size_t elements) {
  std::vector<double> values(elements);
  for (std::size_t i = 0; i < elements; ++i) values[i] = row[i % row.size()];
  return values;
}

/// The mean over the second-innermost axis of an input, handed to all elements of an output of the same rank whose
/// outer extents are multiples of the input's, as query heads are of key heads.
std::optional<std::vector<double>> means_along_sequence(const Axes& axes, const TensorSpec& from,
                                                        const std::vector<float>& values, const TensorSpec& to) {
  const std::size_t rank = from.axes.size();
  if (rank < 2 || to.axes.size() != rank) return std::nullopt;
  const std::int64_t columns = extent_of(axes, from.axes.back());
  const std::int64_t sequence = extent_of(axes, from.axes[rank - 2]);
  const std::int64_t rows_per_slice = extent_of(axes, to.axes[rank - 2]);
  if (extent_of(axes, to.axes.back()) != columns) return std::nullopt;
  std::int64_t slices = 1;
  for (std::size_t i = 0; i + 2 < rank; ++i) {
    if (extent_of(axes, to.axes[i]) % extent_of(axes, from.axes[i]) != 0) return std::nullopt;
    slices *= extent_of(axes, to.axes[i]);
  }
  std::vector<double> result;
  for (std::int64_t slice = 0; slice < slices; ++slice) {
    std::int64_t source = 0;
    std::int64_t stride = 1;
    std::int64_t rest = slice;
    for (std::size_t i = rank - 2; i-- > 0;) {
      const std::int64_t mine = extent_of(axes, to.axes[i]);
      const std::int64_t theirs = extent_of(axes, from.axes[i]);
      source += rest % mine / (mine / theirs) * stride;
      stride *= theirs;
      rest /= mine;
    }
    const auto begin = values.begin() + source * sequence * columns;
    const auto row = column_means({begin, begin + sequence * columns}, static_cast<std::size_t>(columns));
    const auto block = repeated(row, static_cast<std::size_t>(rows_per_slice * columns));
    result.insert(result.end(), block.begin(), block.end());
  }
  return result;
}

}  // namespace

std::vector<Probe> probes_for(const Problem& problem) {
  std::vector<Probe> probes = {{"all zeros", k_add_workload, Probe::Kind::zeros, 0},
                               {"one constant", k_add_workload, Probe::Kind::constant, 0},
                               {"one value per column", k_add_workload, Probe::Kind::columns, 0}};
  for (std::size_t i = 0; i < problem.operand_count(); ++i) {
    const std::string& name = problem.inputs[i].name;
    probes.push_back({"a copy of " + name, "add a workload on which the answer is not an input", Probe::Kind::copy, i});
    probes.push_back({"the mean of " + name + " over its rows", "add a workload on which the rows do not count alike",
                      Probe::Kind::mean, i});
  }
  for (std::size_t i = 0; i < problem.operand_count(); ++i) {
    const std::string& name = problem.inputs[i].name;
    probes.push_back({"the answer to " + name + " = 0",
                      fmt::format("let the answer depend on {}: on more than one key, and not on the mods alone", name),
                      Probe::Kind::without, i});
  }
  return probes;
}

Result<std::optional<std::vector<double>>> probe_values(const Problem& problem, const Probe& probe,
                                                        const CheckCase& one, std::size_t output,
                                                        const ParallelFor& parallel) {
  const auto& expected = one.expected[output];
  const auto& workload = problem.workloads[one.workload];
  const auto columns = static_cast<std::size_t>(extent_of(workload.axes, problem.outputs[output].axes.back()));
  switch (probe.kind) {
    case Probe::Kind::zeros:
      return std::vector<double>(expected.size(), 0.0);
    case Probe::Kind::constant:
      return repeated(column_means(expected, 1), expected.size());
    case Probe::Kind::columns:
      return repeated(column_means(expected, columns), expected.size());
    case Probe::Kind::copy: {
      const auto& values = one.inputs[probe.input];
      if (values.size() != expected.size()) return std::nullopt;
      return std::vector<double>(values.begin(), values.end());
    }
    case Probe::Kind::mean:
      return means_along_sequence(workload.axes, problem.inputs[probe.input], one.inputs[probe.input],
                                  problem.outputs[output]);
    case Probe::Kind::without: {
      InputValues inputs = one.inputs;
      std::fill(inputs[probe.input].begin(), inputs[probe.input].end(), 0.0F);
      KW_TRY(auto answers, evaluate_oracle(problem, workload, inputs, parallel));
      return std::move(answers[output]);
    }
  }
  return std::nullopt;
}

}  // namespace kw

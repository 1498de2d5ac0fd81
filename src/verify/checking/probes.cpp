#include "verify/checking/probes.hpp"

#include <algorithm>
#include <cmath>

#include "problem/operator.hpp"

namespace kw {
namespace {

constexpr const char* k_add_workload = "add a workload on which the answer depends on the inputs";

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

}  // namespace

std::vector<Probe> probes_for(const Problem& problem) {
  const OperatorChecks& checks = operator_of(problem).checks;
  std::vector<Probe> probes = {{"all zeros", k_add_workload, Probe::Kind::zeros, 0, std::nullopt},
                               {"one constant", k_add_workload, Probe::Kind::constant, 0, std::nullopt},
                               {"one value per column", k_add_workload, Probe::Kind::columns, 0, std::nullopt}};
  for (std::size_t i = 0; i < problem.operand_count(); ++i) {
    probes.push_back({"a copy of " + problem.inputs[i].name, "add a workload on which the answer is not an input",
                      Probe::Kind::copy, i, std::nullopt});
  }
  for (auto& own : checks.probes(problem)) probes.push_back({own.name, own.remedy, Probe::Kind::own, own.input, own});
  for (std::size_t i = 0; i < problem.operand_count(); ++i) {
    if (checks.may_be_idle(problem, i)) continue;
    const std::string& name = problem.inputs[i].name;
    probes.push_back(
        {"the answer to " + name + " = 0", checks.how_to_depend(name), Probe::Kind::without, i, std::nullopt});
  }
  return probes;
}

Result<std::optional<std::vector<double>>> probe_values(const Problem& problem, const Probe& probe,
                                                        const CheckCase& one, std::size_t output,
                                                        const ParallelFor& parallel) {
  const std::vector<double> expected = one.expected[output].numbers();
  const auto& workload = problem.workloads[one.workload];
  const auto columns = static_cast<std::size_t>(row_length_of(problem.outputs[output], workload.axes));
  switch (probe.kind) {
    case Probe::Kind::zeros:
      return std::vector<double>(expected.size(), 0.0);
    case Probe::Kind::constant:
      // One number is its own mean, and says nothing.
      if (expected.size() < 2) return std::nullopt;
      return repeated(column_means(expected, 1), expected.size());
    case Probe::Kind::columns:
      if (expected.size() <= columns) return std::nullopt;
      return repeated(column_means(expected, columns), expected.size());
    case Probe::Kind::copy: {
      const auto inputs = inputs_of(one);
      const auto& values = (*inputs)[probe.input];
      if (values.size() != expected.size()) return std::nullopt;
      return std::vector<double>(values.begin(), values.end());
    }
    case Probe::Kind::own: {
      OutputValues answers;
      for (const Answer& answer : one.expected) answers.push_back(answer.numbers());
      return probe.own->values({problem, workload.axes, *inputs_of(one), answers}, probe.input, output);
    }
    case Probe::Kind::without: {
      InputValues inputs = *inputs_of(one);
      std::fill(inputs[probe.input].begin(), inputs[probe.input].end(), 0.0F);
      KW_TRY(auto answers, evaluate_oracle(problem, workload, inputs, parallel));
      return std::move(answers[output]);
    }
  }
  return std::nullopt;
}

}  // namespace kw

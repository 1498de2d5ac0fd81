#include "tests/programs/interpreted.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/rng.hpp"
#include "base/testing/no_numbers_in_memory.hpp"
#include "operators/program/oracle/oracle.hpp"
#include "operators/program/oracle_glue.hpp"
#include "operators/program/program_detail.hpp"
#include "program/simplify/simplify.hpp"
#include "program/stages/lower.hpp"
#include "program/testing/stage_interpreter.hpp"

namespace kw {
namespace {

/// Sometimes few, so that what they follow from is not everything.
constexpr std::int64_t k_most_on_demand = 64;
/// Both are float64: what is left is the order of sums, and what an ill-conditioned step makes of it.
constexpr double k_close = 1e-7;

double rms_of(const std::vector<double>& values) {
  double squares = 0;
  for (const double value : values) squares += std::isfinite(value) ? value * value : 0.0;
  return values.empty() ? 0 : std::sqrt(squares / static_cast<double>(values.size()));
}

bool agree(double a, double b, double rms) {
  if (!std::isfinite(a) || !std::isfinite(b)) return a == b || (std::isnan(a) && std::isnan(b));
  return std::fabs(a - b) <= k_close * (rms + std::fabs(a)) + 1e-12;
}

struct Evaluated {
  std::shared_ptr<const Program> program;
  std::map<std::size_t, DenseTensor> leaves;
  std::vector<DenseTensor> outputs;
};

Result<Evaluated> evaluated(const Problem& problem, const Workload& workload, const InputValues& inputs) {
  Evaluated all;
  KW_TRY(all.program, program_at(problem, workload.axes));
  all.leaves = oracle_leaves(problem, *all.program, inputs);
  KW_TRY(all.outputs, evaluate_graph(all.program->graph, all.leaves, all.program->outputs));
  return all;
}

/// Leaves of which those elements are numbers that the wanted ones may be computed from, as a timed launch draws them.
Result<std::map<std::size_t, LeafElements>> leaves_as_drawn(const Evaluated& all,
                                                            const std::vector<WantedElements>& wanted) {
  std::vector<std::size_t> values;
  for (const auto& [value, leaf] : all.leaves) values.push_back(value);
  KW_TRY(const auto reads, leaf_reads(all.program->graph, wanted, values));
  std::map<std::size_t, LeafElements> leaves;
  auto drawn_of = reads.begin();
  for (const std::size_t value : values) {
    leaves[value] = [&leaf = all.leaves.at(value), ranges = *drawn_of++](std::int64_t element) {
      const bool drawn = std::ranges::any_of(
          ranges, [&](const ElementRange& range) { return range.begin <= element && element < range.end; });
      return drawn ? leaf.values[static_cast<std::size_t>(element)] : std::numeric_limits<double>::quiet_NaN();
    };
  }
  return leaves;
}

std::string wrong(const Workload& workload, std::size_t output, std::size_t element, double got, double expected) {
  return fmt::format("workload {}, output {}, element {}: {:.17g} instead of {:.17g}", workload.name, output, element,
                     got, expected);
}

}  // namespace

std::string difference_on_demand(const Problem& problem, const Workload& workload, const InputValues& inputs,
                                 std::uint64_t seed) {
  const auto all = evaluated(problem, workload, inputs);
  if (!all) return all.error().to_string();
  Rng rng(seed);
  std::vector<WantedElements> wanted;
  for (std::size_t i = 0; i < all->outputs.size(); ++i) {
    auto& one = wanted.emplace_back(WantedElements{all->program->outputs[i], {}});
    const auto count = std::ssize(all->outputs[i].values);
    const auto some = std::min(count, 1 + rng.below(k_most_on_demand));
    for (std::int64_t k = 0; k < some; ++k) one.elements.push_back(rng.below(count));
  }
  const auto leaves = leaves_as_drawn(*all, wanted);
  if (!leaves) return leaves.error().to_string();
  const NoNumbersInMemory none;
  const auto elements = evaluate_elements(all->program->graph, *leaves, wanted);
  if (!elements) return elements.error().to_string();
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const double rms = rms_of(all->outputs[i].values);
    for (std::size_t k = 0; k < wanted[i].elements.size(); ++k) {
      const auto place = static_cast<std::size_t>(wanted[i].elements[k]);
      if (!agree(all->outputs[i].values[place], (*elements)[i][k], rms)) {
        return wrong(workload, i, place, (*elements)[i][k], all->outputs[i].values[place]);
      }
    }
  }
  return {};
}

std::string difference_of_simplified(const Problem& problem, const Workload& workload, const InputValues& inputs) {
  const auto all = evaluated(problem, workload, inputs);
  if (!all) return all.error().to_string();
  const auto simple = simplified(all->program->graph, all->program->outputs);
  if (simple.applied.empty()) return {};
  const auto got = evaluate_graph(simple.graph, all->leaves, simple.outputs);
  if (!got) return got.error().to_string();
  for (std::size_t i = 0; i < got->size(); ++i) {
    const auto& expected = all->outputs[i].values;
    const double rms = rms_of(expected);
    for (std::size_t k = 0; k < expected.size(); ++k) {
      const double element = (*got)[i].values[k];
      if (agree(expected[k], element, rms)) continue;
      return applied_text(simple.applied[0]) + "\n" + wrong(workload, i, k, element, expected[k]);
    }
  }
  return {};
}

std::string difference_of_stages(const Problem& problem, const Workload& workload, const InputValues& inputs) {
  const auto all = evaluated(problem, workload, inputs);
  if (!all) return all.error().to_string();
  const auto stages = lower(all->program->graph, all->program->outputs);
  if (!stages) return stages.error().to_string();
  program_test::StageValues values;
  for (std::size_t i = 0; i < stages->buffers.size(); ++i) {
    const auto& buffer = stages->buffers[i];
    if (buffer.use == BufferUse::input) values[i] = all->leaves.at(*buffer.value).values;
  }
  program_test::run_stages(*stages, values);
  for (std::size_t i = 0; i < all->outputs.size(); ++i) {
    const auto& expected = all->outputs[i].values;
    const auto& got = values.at(stages->outputs[i]);
    const double rms = rms_of(expected);
    for (std::size_t k = 0; k < expected.size(); ++k) {
      if (!agree(expected[k], got[k], rms)) return wrong(workload, i, k, got[k], expected[k]);
    }
  }
  return {};
}

}  // namespace kw

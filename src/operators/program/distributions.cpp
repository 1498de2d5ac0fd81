#include <algorithm>
#include <cmath>

#include "operators/program/conditioning.hpp"
#include "operators/program/parts.hpp"
#include "operators/program/program_detail.hpp"

namespace kw {
namespace {

/// Changes the elements of every operand that is drawn freely: `change(values, row_length, rng)`.
template <typename Change>
void change_free_operands(const Problem& problem, const Workload& workload, InputValues& operands, Rng& rng,
                          const Change& change) {
  for (std::size_t i = 0; i < problem.operand_count(); ++i) {
    if (!is_free_operand(problem, i)) continue;
    Rng own = rng.split(i);
    change(operands[i], static_cast<std::size_t>(row_length_of(problem.inputs[i], workload.axes)), own);
  }
}

/// For what shape() makes.
std::optional<DrawRule> no_rule(const Problem&, const Workload&, std::size_t) {
  return std::nullopt;
}

/// As get_inputs() draws it: what the file itself would be run with.
void draw_as_given(const Problem& problem, const Workload& workload, const CaptureData&, InputValues& operands,
                   Rng& rng, const ParallelFor& parallel) {
  draw_given_operands(problem, workload, operands, rng, parallel);
}

/// No element above zero: what a rectifier or a maximum that starts at zero gets wrong.
void make_negative(const Problem& problem, const Workload& workload, const CaptureData&, InputValues& operands,
                   Rng& rng, const ParallelFor&) {
  change_free_operands(problem, workload, operands, rng, [](std::vector<float>& values, std::size_t, Rng&) {
    for (float& value : values) value = -std::fabs(value) - 0.125F;
  });
}

/// Rows of one value each: a variance of zero, and maxima that are all equal.
void make_rows_constant(const Problem& problem, const Workload& workload, const CaptureData&, InputValues& operands,
                        Rng& rng, const ParallelFor&) {
  change_free_operands(problem, workload, operands, rng, [](std::vector<float>& values, std::size_t length, Rng&) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = values[i - i % length];
  });
}

/// Few values, so that maxima are tied, and exact in every type.
void make_ties(const Problem& problem, const Workload& workload, const CaptureData&, InputValues& operands, Rng& rng,
               const ParallelFor&) {
  change_free_operands(problem, workload, operands, rng, [](std::vector<float>& values, std::size_t, Rng&) {
    for (float& value : values) value = std::round(2.0F * value) / 2.0F;
  });
}

/// Far from zero, so that a variance from sums of squares loses all it has, and an exponential without a maximum
/// overflows.
void move_far(const Problem& problem, const Workload& workload, const CaptureData&, InputValues& operands, Rng& rng,
              const ParallelFor&) {
  change_free_operands(problem, workload, operands, rng, [](std::vector<float>& values, std::size_t, Rng&) {
    for (float& value : values) value += 100.0F;
  });
}

/// The primary is the largest, and what these show shows on small workloads; each only where the module itself has an
/// answer to it.
template <ShapeOperands shape>
OwnDistribution small_distribution(std::string_view name) {
  return {.name = name,
          .suits = [](const Problem& problem, const Workload& workload) -> Result<bool> {
            const bool small = workload.role != WorkloadRole::primary;
            return small && program_detail(problem).domain == InputDomain::real &&
                   is_answered(problem, workload, shape);
          },
          .rule = no_rule,
          .shape = shape,
          .first_of_rows = no_first_elements};
}

Result<bool> always(const Problem&, const Workload&) {
  return true;
}

}  // namespace

const std::vector<OwnDistribution>& program_distributions() {
  static const std::vector<OwnDistribution> all = {{"as_given", always, given_rule, draw_as_given, no_first_elements},
                                                   small_distribution<make_negative>("negative"),
                                                   small_distribution<make_rows_constant>("constant_rows"),
                                                   small_distribution<make_ties>("ties"),
                                                   small_distribution<move_far>("far")};
  return all;
}

}  // namespace kw

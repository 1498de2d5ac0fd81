#pragma once
// What the verifier asks an operator: how answers to its problems are checked, and what would be an answer without the
// work. Every member has to be given; an operator that has nothing to add says so with an empty list.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/parallel.hpp"
#include "base/random_tensor.hpp"
#include "base/required.hpp"
#include "base/rng.hpp"
#include "problem/problem.hpp"
#include "problem/values.hpp"

namespace kw {

/// A way of drawing operands that bites on wrong kernels of this operator, beside those that suit any operator
/// (verify/checking/inputs.hpp).
struct OwnDistribution {
  std::string_view name;  ///< stored in archives
  /// Whether it tells more about this workload than normal data does.
  Required<Result<bool>(const Problem& problem, const Workload& workload)> suits;
  /// How this operand is drawn where that is all; nothing where `shape` makes it of standard normal numbers.
  Required<std::optional<DrawRule>(const Problem& problem, const Workload& workload, std::size_t operand)> rule;
  /// Changes operands without a rule, and leaves those that have one as they are.
  Required<void(const Problem& problem, const Workload& workload, const CaptureData& captures, InputValues& operands,
                Rng& rng, const ParallelFor& parallel)>
      shape;
  /// What the first element of each row of an operand with a rule is in place of what the rule says; by operand, and
  /// nothing for those that are all by the rule. A row is the innermost axis.
  Required<InputValues(const Problem& problem, const Workload& workload, const CaptureData& captures, Rng& rng,
                       const ParallelFor& parallel)>
      first_of_rows;
};
/// OwnDistribution::first_of_rows for one that has none.
[[nodiscard]] inline InputValues no_first_elements(const Problem&, const Workload&, const CaptureData&, Rng&,
                                                   const ParallelFor&) {
  return {};
}

/// What an honest kernel may err, in the units of verify/checking/accuracy.hpp.
struct Tolerance {
  double error_factor;       ///< times what the plain kernel of the same type errs on the same data
  double least_error;        ///< but at least this, however exact the plain kernel is
  double tensor_share;       ///< of the tensor's rms that counts towards every row's scale
  double worst_plain_error;  ///< a plain kernel further off is wrong, not imprecise
};

/// A problem's inputs and the answer to them.
struct AnsweredCase {
  const Problem& problem;
  const Axes& axes;
  const InputValues& inputs;
  const OutputValues& expected;
};

/// What a cheater could write without doing the work of this operator, beside what fits any
/// (verify/checking/probes.hpp).
struct OwnProbe {
  std::string name;       ///< "the mean of V over its rows"; continues with "as O passes every check"
  std::string remedy;     ///< what to change about a problem that it passes
  std::size_t input = 0;  ///< among Problem::inputs, handed to `values`
  /// Of one output; nothing where its shape does not allow them.
  Required<std::optional<std::vector<double>>(const AnsweredCase& one, std::size_t input, std::size_t output)> values;
};

/// Of a workload of more steps nobody asks for the conditioning below: it would take several seconds.
inline constexpr double k_most_steps_asked_in_doubt = 1e8;

struct OperatorChecks {
  /// How this operand is drawn whatever the distribution; nothing where that one says it.
  Required<std::optional<DrawRule>(const Problem& problem, const Workload& workload, std::size_t operand)> rule;
  /// Gives other operands the values that their tensors may have, where no rule says which these are.
  Required<void(const Problem& problem, const Workload& workload, InputValues& operands, Rng& rng,
                const ParallelFor& parallel)>
      settle;
  /// Whether that may change this operand.
  Required<bool(const Problem& problem, const Workload& workload, std::size_t operand)> settles;
  /// Whether an answer may be right that does without this operand, as a bias that a normalisation takes away again.
  Required<bool(const Problem& problem, std::size_t operand)> may_be_idle;
  /// By what share roundings of the inputs, and of what is computed of them, move the answer; only the ratio between
  /// two draws for a workload counts, and 0 is no statement, as of workloads of more than `most_steps`
  /// (WorkloadCost::steps), which are not asked about: the answer is computed three times for it, by one thread.
  /// Nothing where the answer says nothing of a kernel, because roundings decide it, as the variance of a single
  /// number: honest kernels miss it too, and others are drawn.
  Required<std::optional<double>(const Problem& problem, const Workload& workload, const InputValues& inputs,
                                 double most_steps)>
      conditioning;
  /// Lives as long as the program.
  Required<const std::vector<OwnDistribution>&()> distributions;
  /// Of the problem's outputs of this type whose innermost axis has `row_length` elements; 1 for a single number.
  Required<Tolerance(const Problem& problem, DType dtype, std::int64_t row_length)> tolerance;
  Required<std::vector<OwnProbe>(const Problem& problem)> probes;
  /// What to change about a problem whose answer does not depend on this operand.
  Required<std::string(std::string_view operand)> how_to_depend;
  /// What to change about a problem whose right answer is NaN or infinite.
  Required<std::string()> how_to_be_finite;
};

}  // namespace kw

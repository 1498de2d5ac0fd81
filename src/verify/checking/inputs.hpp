#pragma once
// Input data for checks: several distributions, each set to bite on a class of wrong kernels. Those here suit any
// operator: they see tensors, "rows" (everything but the innermost axis) and the position along the second-innermost
// axis. Operators add their own. Captured tensors are drawn by the rules of the problem file, whatever the
// distribution.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/parallel.hpp"
#include "base/random_tensor.hpp"
#include "base/rng.hpp"
#include "problem/operator_checks.hpp"
#include "problem/oracle.hpp"
#include "problem/problem.hpp"

namespace kw {

/// A way of drawing operands.
struct Distribution {
  std::string_view name;  ///< stored in archives
  DrawRule rule = {};     ///< of all operands
  const OwnDistribution* own =
      nullptr;  ///< of the problem's operator, in place of `rule`; null for those that suit any

  static const Distribution normal;   ///< standard normal: the everyday case
  static const Distribution uniform;  ///< [0, 1): sums of many are alike, so dropped elements and lost tails show
  static const Distribution spikes;   ///< normal with 1 row in 32 scaled by 6: maxima move late, overflow shows
  static const Distribution late;     ///< normal whose magnitude grows from 1/4 to 4 along the sequence: kernels that
                                      ///< read only the beginning fail
  friend bool operator==(const Distribution& a, const Distribution& b) { return a.name == b.name; }
  friend bool operator<(const Distribution& a, const Distribution& b) { return a.name < b.name; }
};
inline constexpr Distribution Distribution::normal{"normal"};
inline constexpr Distribution Distribution::uniform{"uniform", {.numbers = DrawRule::Numbers::uniform}};
inline constexpr Distribution Distribution::spikes{"spikes", {.rows = DrawRule::RowScales::spikes}};
inline constexpr Distribution Distribution::late{"late", {.rows = DrawRule::RowScales::growing}};

/// Those that suit any operator, then those of the problem's.
[[nodiscard]] std::vector<Distribution> all_distributions(const Problem& problem);
/// Those that tell more about this workload than normal data does.
[[nodiscard]] Result<std::vector<Distribution>> distributions_for(const Problem& problem, const Workload& workload);

/// What the data of one case are drawn from; a run keeps both secret from candidates.
struct InputSeeds {
  std::uint64_t operands = 0;
  std::uint64_t captures = k_nominal_seed;
  friend bool operator==(const InputSeeds&, const InputSeeds&) = default;
};

/// An input that is a random tensor, rounded to its type, which is one of floats: whoever has this makes it anew.
struct RandomInput {
  RandomTensor tensor;
  bool all_drawn = true;  ///< false: of the host's values only those are drawn that the oracle was to read
  /// The first element of each row, as the type holds it, where these are not the tensor's; else null.
  std::shared_ptr<const std::vector<float>> firsts = nullptr;
};
/// By input; nothing for values that are something else.
using RandomInputs = std::vector<std::optional<RandomInput>>;

/// Puts them into part of a tensor, which begins with its element `first`. One of `firsts` for each row of the tensor.
void set_first_of_rows(std::span<float> values, std::span<const float> firsts, std::size_t row_length,
                       std::size_t first);

struct DrawnInputs {
  InputValues values;
  RandomInputs random;  ///< as many
};

/// Values for every operand, as its type can hold them. Parts of a tensor are drawn by `parallel`, and what is drawn
/// does not depend on it. The extents must have been checked (make_inputs). Operands that nobody needs any more may be
/// given as `used`: where they are as large, their memory is taken, for new memory is cleared by one thread. With
/// `reads`, of operands that a device draws only these are; what is anywhere else in them is left over.
[[nodiscard]] DrawnInputs draw_operands(const Problem& problem, const Workload& workload,
                                        const Distribution& distribution, Rng& rng,
                                        const ParallelFor& parallel = serial_for, InputValues used = {},
                                        const OperandReads* reads = nullptr);

/// Values for every input of the problem, as its type can hold them. Deterministic for the seeds. errc::overflow for a
/// workload that does not fit, errc::capture_values for captured tensors that cannot be drawn. `used` and `reads` as
/// above.
[[nodiscard]] Result<DrawnInputs> make_inputs(const Problem& problem, const Workload& workload,
                                              const Distribution& distribution, InputSeeds seeds,
                                              const ParallelFor& parallel = serial_for, InputValues used = {},
                                              const OperandReads* reads = nullptr);
[[nodiscard]] inline Result<DrawnInputs> make_inputs(const Problem& problem, const Workload& workload,
                                                     const Distribution& distribution, std::uint64_t seed) {
  return make_inputs(problem, workload, distribution, InputSeeds{seed});
}

}  // namespace kw

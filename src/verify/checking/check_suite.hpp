#pragma once
// The cases a candidate is checked on: every workload under the distributions that suit it, with the oracle's answer
// and the error that is allowed. Made once per run; the answers stay in the host process. The first k_timing_cases
// cases are primary workloads with normal data and different seeds: timed launches have new data like them
// (fresh_data.hpp). All of these have the same captured tensors, because masks decide how much work there is;
// every other case draws its own, from the secret seed.

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/parallel.hpp"
#include "base/result.hpp"
#include "base/time_ledger.hpp"
#include "problem/oracle.hpp"
#include "problem/problem.hpp"
#include "problem/workload_costs.hpp"
#include "verify/checking/accuracy.hpp"
#include "verify/checking/answer.hpp"
#include "verify/checking/inputs.hpp"
#include "verify/checking/sampled_rows.hpp"

namespace kw {

namespace errc {
inline constexpr ErrorCode unscorable{"verify.unscorable"};  ///< an answer without the work would pass (probes.hpp)
}  // namespace errc

struct CheckCase {
  std::size_t workload = 0;  ///< index into Problem::workloads
  Distribution distribution = Distribution::normal;
  InputValues inputs;  ///< of large ones nothing but the captured tensors: see inputs_of()
  /// Draws large inputs again, as LargeInputs does: all, or the elements that are read. Empty where all of them are in
  /// `inputs`.
  std::function<Result<std::shared_ptr<const DrawnInputs>>(const OperandReads* reads)> draw;
  std::optional<Rng> unasked;  ///< of large inputs: chooses the rows that the oracle has not been asked about yet
  RandomInputs random;         ///< of `inputs`: what a device can draw. Empty: nothing
  Answers expected;
  std::vector<OutputScales> scales;  ///< per output, of `expected`
  std::vector<double> allowed;       ///< per output, against the oracle's answer; set from the baseline (allow_errors)
  std::vector<double> plain_error;   ///< per output, what the baseline erred by; set with `allowed`
  /// Where the oracle would take too long for all of `expected`: its answers in some rows, by output. The rest is then
  /// the baseline's own output (adopt), which agrees with these.
  std::vector<AnswerSample> sampled;
  AnswerWork whole;                    ///< what the oracle's answer to all rows would cost
  double conditioning = 0;             ///< of these inputs, as OperatorChecks says
  bool tells = true;                   ///< false where it says nothing of them, which only timing cases may have
  std::vector<double> baseline_error;  ///< per output, of an adopted answer; empty where `expected` is the oracle's

  /// What an output may differ from `expected`: what is allowed, and what that may itself be wrong by.
  [[nodiscard]] double limit(std::size_t output) const;
  /// How an output is compared with `expected`.
  [[nodiscard]] OutputForm form(const Problem& problem, std::size_t output) const;
};

/// All inputs of a case, in the order of Problem::inputs; `one` must live as long as the pointer.
[[nodiscard]] std::shared_ptr<const InputValues> inputs_of(const CheckCase& one);

inline constexpr std::size_t k_timing_cases = 2;

/// Of workloads whose data are asked what they tell with every draw of a case (OperatorChecks::conditioning): that
/// takes about a tenth of a second. Not less: of level2/72 of KernelBench with 2e6 steps, whose channels hardly vary, a
/// right kernel was refused without being asked.
inline constexpr double k_most_steps_asked = 4e6;

/// Two cores need some 0.2 s to draw as many again.
inline constexpr double k_most_inputs_kept = 128.0 * (1 << 20);

/// Limits for slow devices such as a simulator, in useful FLOPs.
struct SuiteLimits {
  double workload_flops = std::numeric_limits<double>::infinity();  ///< of one launch
  double suite_flops = std::numeric_limits<double>::infinity();     ///< of all cases, each launched once
  /// Above these, and above 4e6 elements of outputs, the oracle answers in some rows alone; for a suite whose cases
  /// will be adopted.
  double whole_flops = std::numeric_limits<double>::infinity();
  /// Of such a case: inputs of more bytes, as floats, are drawn again when somebody asks for them, and not kept.
  double kept_bytes = k_most_inputs_kept;
};

/// What is allowed of what roundings do to the answer of such data, `conditioning`: up to 1e-4; 1e-3 on data that are
/// not normal.
[[nodiscard]] double allowed_of_roundings(const CheckCase& one, double conditioning);
/// Allows no less than that.
void allow_roundings(CheckCase& one, double conditioning);

/// Of a problem whose plain kernel is far off on a timing case that tells nothing.
[[nodiscard]] Error untold_error(const Problem& problem, const CheckCase& one);

class CheckSuite {
 public:
  /// Draws inputs from `seed` and asks the oracle. errc::unscorable when it answers NaN, +infinity or what the output
  /// cannot hold somewhere. Workloads above limits.workload_flops are left out, but never the smallest; the first cases
  /// are primary workloads only if the primary is not left out. Data that tell nothing (OperatorChecks::conditioning)
  /// are drawn again, and but for those of the first cases left out where no draw does; errc::unscorable when that
  /// leaves no case. Above limits.suite_flops every workload keeps one distribution, not the same for all, and gets
  /// others in turn while they fit. Limits alone need costs: those of the problem, or null; `ledger` may be null.
  [[nodiscard]] static Result<CheckSuite> make(const Problem& problem, std::uint64_t seed, const ParallelFor& parallel,
                                               const SuiteLimits& limits = {}, const WorkloadCosts* costs = nullptr,
                                               TimeLedger* ledger = nullptr);

  [[nodiscard]] const std::vector<CheckCase>& cases() const { return cases_; }
  /// Which timed launches are like; the primary workload must not be left out.
  [[nodiscard]] std::span<const CheckCase> timing_cases() const { return std::span(cases_).first(k_timing_cases); }
  /// Indices of the workloads that were left out.
  [[nodiscard]] const std::vector<std::size_t>& left_out() const { return left_out_; }
  /// Those of them that no data tell something on; the others are too large.
  [[nodiscard]] const std::vector<std::size_t>& untold() const { return untold_; }
  /// Of the workloads that were not left out: pairs of one of them and a distribution that are not in cases().
  [[nodiscard]] std::size_t cases_left_out() const { return cases_left_out_; }
  /// How many cases the oracle answers in some rows alone, and in how many rows each of them.
  struct Sampled {
    std::size_t cases = 0;
    std::int64_t rows = 0;
  };
  [[nodiscard]] Sampled sampled() const;
  /// Asks the oracle about a case with large inputs, which `make` leaves for later: they are drawn once for that and
  /// for a launch that follows. Errors as of `make`.
  [[nodiscard]] Result<void> answer_large(const Problem& problem, std::size_t index, const ParallelFor& parallel,
                                          TimeLedger* ledger);
  /// Takes the baseline's own outputs, of these scales, as the answer of a sampled case. They erred by `errors` in the
  /// sampled rows.
  void adopt(std::size_t index, Answers outputs, std::vector<OutputScales> scales, std::vector<double> errors);
  /// `errors[case][output]` as the plain kernel reached them; sets what is allowed, which is no less than what
  /// roundings of the inputs do to the answer, up to 1e-4.
  void allow_errors(const Problem& problem, const std::vector<std::vector<double>>& errors);
  /// Refuses a problem whose check a cheater could pass: each probe must exceed what is allowed on at least one case.
  /// And one whose timing cases tell nothing, of which an output is 0 throughout. Call after allow_errors.
  [[nodiscard]] Result<void> require_scorable(const Problem& problem, const ParallelFor& parallel = serial_for) const;

 private:
  /// Workloads that have no case.
  void leave_out_untold(const Problem& problem);

  std::vector<CheckCase> cases_;
  std::vector<std::size_t> left_out_;
  std::vector<std::size_t> untold_;
  std::size_t cases_left_out_ = 0;
  std::int64_t sampled_rows_ = 0;
};

}  // namespace kw

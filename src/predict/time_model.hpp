#pragma once
// How long a kernel takes that nobody timed: boosted trees over problem, device, tunables and, once it is built, the
// compiler's report. They learn log(time / scale), the scale being the style's own estimate, so that what it knows of
// sizes and devices need not be learnt. It orders and foretells; it never rejects, and no report calls it a
// measurement.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "predict/boosted_trees.hpp"
#include "predict/time_features.hpp"
#include "predict/time_sample.hpp"

namespace kw {

namespace errc {
inline constexpr ErrorCode predict_too_little{"predict.too_little"};  ///< says what there is and what is missing
}  // namespace errc

class TimeModel {
 public:
  /// Every problem on every device has the same say, however many samples it has. At least one sample.
  [[nodiscard]] static Result<TimeModel> train(std::span<const TimeSample> samples);
  /// Expected nanoseconds of each; `samples` need no time.
  [[nodiscard]] Result<std::vector<double>> times_ns(std::span<const TimeSample> samples) const;

 private:
  TimeModel(FeatureNames names, BoostedTrees trees) : names_(std::move(names)), trees_(std::move(trees)) {}
  FeatureNames names_;
  BoostedTrees trees_;
};

/// What is new about a subject to who knows `samples`, the most that is.
enum class Novelty : std::uint8_t {
  nothing = 1,  ///< this shape was timed on this device
  shape = 2,    ///< the problem was, in another size
  problem = 3,  ///< another problem was, on this device
  device = 4,   ///< only other devices
};
[[nodiscard]] std::string_view to_string(Novelty novelty);
/// Only samples of the same target and style count.
[[nodiscard]] Novelty novelty_of(const TimeSubject& subject, std::span<const TimeSample> samples);

/// A prediction for a sample that was left out while the model was trained.
struct HeldOut {
  std::size_t sample = 0;
  double expected_ns = 0;
  double roofline_ns = 0;  ///< the bound times what samples that were trained on take of theirs, their median
};

/// Every sample once, by models that saw no sample alike in what is new: no other one of the same device, problem
/// name or shape; for `nothing`, a fifth of the samples in turn. Those of which there is only one group are left out.
[[nodiscard]] Result<std::vector<HeldOut>> hold_out(std::span<const TimeSample> samples, Novelty novelty);

/// By how much a prediction may err: the quantile of |log(expected / timed)| over held-out samples that a share
/// `coverage` of all new samples stays within, were they drawn as those were (split conformal, Vovk, Gammerman, Shafer
/// 2005).
[[nodiscard]] double conformal_width(std::span<const TimeSample> samples, std::span<const HeldOut> held_out,
                                     double coverage);

}  // namespace kw

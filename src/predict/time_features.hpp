#pragma once
// Numbers that trees split on, by name: a table of names is learnt from the samples, so that a style's new tunable or
// another operator's axis needs no change here. What a sample does not have is NaN, which trees treat as unknown.

#include <map>
#include <span>
#include <string>
#include <vector>

#include "predict/boosted_trees.hpp"
#include "predict/time_sample.hpp"

namespace kw {

/// "axis.Sq", "tunable.ROWS", "style=vector", "device.peak_bytes", ...: sizes and rates as logarithms to base 2.
[[nodiscard]] std::map<std::string, float, std::less<>> named_features(const TimeSample& sample);

class FeatureNames {
 public:
  /// All names that the samples have, in order.
  explicit FeatureNames(std::span<const TimeSample> samples);
  /// Features of other names are left out.
  [[nodiscard]] FeatureRows rows(std::span<const TimeSample> samples) const;
  [[nodiscard]] std::size_t count() const { return columns_.size(); }

 private:
  std::map<std::string, std::size_t, std::less<>> columns_;
};

}  // namespace kw

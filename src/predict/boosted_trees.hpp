#pragma once
// Gradient-boosted regression trees, trained and asked in this process: XGBoost behind an interface of our own, and the
// only place that knows it. The same rows and settings give the same trees, because one thread trains them and nothing
// is drawn at random.

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "base/result.hpp"

namespace kw {

namespace errc {
inline constexpr ErrorCode trees{"predict.trees", ExitClass::internal};  ///< what the library said
}  // namespace errc

/// Rows of `columns` features each, one after the other. NaN: not known of this row.
struct FeatureRows {
  std::size_t columns = 0;
  std::vector<float> values;
  [[nodiscard]] std::size_t count() const { return columns == 0 ? 0 : values.size() / columns; }
};

struct TreeSettings {
  int rounds = 300;  ///< trees, each of which corrects the ones before it
  int depth = 6;
  double rate = 0.1;          ///< share of a tree's correction that is taken over
  double least_weight = 2.0;  ///< of the rows of a leaf
};

class BoostedTrees {
 public:
  /// Least squares. One label and one weight a row; at least one row.
  [[nodiscard]] static Result<BoostedTrees> train(const FeatureRows& rows, std::span<const float> labels,
                                                  std::span<const float> weights, const TreeSettings& settings);
  /// A value for each row, whose columns are those it was trained with.
  [[nodiscard]] Result<std::vector<float>> predict(const FeatureRows& rows) const;

  BoostedTrees(BoostedTrees&&) noexcept;
  BoostedTrees& operator=(BoostedTrees&&) noexcept;
  ~BoostedTrees();

 private:
  struct Booster;
  BoostedTrees(std::unique_ptr<Booster> booster, std::size_t columns);
  std::unique_ptr<Booster> booster_;
  std::size_t columns_;
};

}  // namespace kw

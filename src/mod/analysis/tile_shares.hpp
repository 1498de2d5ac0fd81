#pragma once
// How much of a mask's score matrix can be skipped (empty tiles) or left unmasked (full tiles), by tile size. Tiles are
// classified by interval arithmetic and halved where that cannot decide; no queries x keys array is ever made.

#include <cstdint>

#include "mod/analysis/analysis.hpp"
#include "mod/analysis/capture_bounds.hpp"

namespace kw {

/// Classifies tiles of one mask, exactly: `partial` means that the tile holds both allowed and masked scores.
class TileClassifier {
 public:
  /// All must outlive the classifier; `data` holds the tensors the mask reads.
  TileClassifier(const ModFunction& mask, const Axes& axes, const CaptureData& data)
      : mask_(mask), axes_(axes), data_(data), bounds_(data) {}

  /// The tile must lie within the axes, and within one batch and one head.
  [[nodiscard]] TileClass classify(const TileRange& tile) const;

 private:
  [[nodiscard]] bool allowed(const TileRange& tile, std::int64_t query, std::int64_t key) const;
  [[nodiscard]] TileClass halves(const TileRange& tile) const;

  const ModFunction& mask_;
  const Axes& axes_;
  const CaptureData& data_;
  CaptureBounds bounds_;
};

/// Shares of all tiles, adding up to 1. Tiles at the ends of the axes may be smaller and count as one.
struct TileShares {
  double empty = 0;
  double full = 0;
  double partial = 0;
  bool exact = true;  ///< false when estimated from evenly spaced tiles because there are too many
};
/// The tiles have `queries` x `keys` scores; axes as an attention problem has them.
[[nodiscard]] TileShares tile_shares(const ModFunction& mask, const Axes& axes, const CaptureData& data,
                                     std::int64_t queries, std::int64_t keys);

}  // namespace kw

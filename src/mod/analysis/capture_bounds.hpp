#pragma once
// Smallest and largest value in any box of a captured tensor, from extremes kept per block: what lets a tile of a
// document or padding mask be classified without looking at each of its scores.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "mod/expression/capture_data.hpp"

namespace kw {

/// Bounds on the value of an expression, both inclusive.
struct ValueRange {
  double low = 0.0;
  double high = 0.0;
  bool maybe_nan = false;
  [[nodiscard]] bool is_point() const { return low == high && !maybe_nan; }
};

class CaptureBounds {
 public:
  static constexpr std::int64_t k_block = 64;  ///< elements along the last dimension

  /// `data` must outlive the bounds.
  explicit CaptureBounds(const CaptureData& data);

  /// Bounds on the elements that indices within these ranges read, one range per dimension: exact but for boxes of more
  /// than 64 rows, which get the bounds of the whole tensor.
  [[nodiscard]] ValueRange range(const std::string& name, std::span<const ValueRange> indices) const;

 private:
  struct Extremes {
    float low = 0.0F;
    float high = 0.0F;
    void include(const Extremes& other);
  };
  struct Entry {
    const CapturedTensor* tensor = nullptr;
    std::vector<Extremes> blocks;  // of each row in turn, the last of a row may be short
    std::int64_t blocks_per_row = 0;
    Extremes all;
  };
  [[nodiscard]] static Extremes row_range(const Entry& entry, std::int64_t row, std::int64_t first, std::int64_t last);

  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace kw

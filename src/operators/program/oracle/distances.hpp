#pragma once
// How far vectors lie apart: for the distances of torch.nn.functional and for the losses made from them.

#include <cstdint>

#include "operators/program/oracle/operand.hpp"

namespace kw::program_oracle {

/// Two operands that broadcast, walked along one axis of what they broadcast to.
class VectorPairs {
 public:
  VectorPairs(const Operand& first, const Operand& second, const Extents& common, std::size_t axis);

  /// Of the vectors that `pair` (flat, without the axis) names: the sum of |first - second + eps|^order, to the power
  /// of 1 / order; order may be infinite.
  [[nodiscard]] double distance(std::int64_t pair, double order, double eps) const;

  struct Products {
    double both = 0.0;    ///< of the two
    double first = 0.0;   ///< of the first with itself
    double second = 0.0;  ///< of the second with itself
  };
  [[nodiscard]] Products products(std::int64_t pair) const;

 private:
  Broadcast first_;
  Broadcast second_;
  SplitSpace space_;
};

/// What the extents broadcast to.
[[nodiscard]] Extents common_extents(const Extents& a, const Extents& b);

}  // namespace kw::program_oracle

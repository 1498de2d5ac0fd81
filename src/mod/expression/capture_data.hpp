#pragma once
// The values of captured tensors for one workload, and how an expression reads them.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "mod/expression/expr.hpp"

namespace kw {

/// Row-major values with their extents, outermost first. Integers and booleans are held exactly.
struct CapturedTensor {
  std::vector<std::int64_t> extents;
  std::vector<float> values;

  /// The element at `indices`, one per dimension, with the rules of ExprOp::gather for indices outside.
  [[nodiscard]] double element(std::span<const double> indices) const;
  /// ExprOp::lower_bound and upper_bound: `indices` of all dimensions but the last.
  [[nodiscard]] double bound(ExprOp op, std::span<const double> indices, double value) const;
};

/// By name.
using CaptureData = std::map<std::string, CapturedTensor, std::less<>>;
/// For mods that capture nothing.
[[nodiscard]] const CaptureData& no_captures();

/// An index as ExprOp::gather resolves it, within 0 and extent - 1.
[[nodiscard]] std::int64_t resolved_index(double index, std::int64_t extent);

}  // namespace kw

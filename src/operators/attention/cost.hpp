#pragma once
// Work of an attention workload that no kernel can avoid.

#include "problem/problem.hpp"

namespace kw {

struct AttendedPairs {
  double share = 1;  ///< of all (query, key) pairs
  /// False when estimated from evenly spaced rows because the shape is large, or when the captured tensors cannot be
  /// drawn for it.
  bool exact = true;
};
/// With captured tensors, for their nominal draw.
[[nodiscard]] AttendedPairs attended_pairs(const Problem& problem, const Workload& workload);

/// Only attended pairs count.
[[nodiscard]] WorkloadCost attention_cost(const Problem& problem, const Workload& workload);

}  // namespace kw

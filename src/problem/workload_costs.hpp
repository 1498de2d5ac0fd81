#pragma once
// The costs of a problem's workloads, each computed when it is first asked for and kept: a mask is evaluated at up to
// 2^24 points for one. A run has one of these, which check suite, gates, record and prompts share.

#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "problem/problem.hpp"

namespace kw {

class WorkloadCosts {
 public:
  using Compute = std::function<WorkloadCost(const Problem&, const Workload&)>;

  /// `problem` must outlive this.
  explicit WorkloadCosts(const Problem& problem, Compute compute = cost);

  /// By the order of Problem::workloads. From any thread.
  [[nodiscard]] WorkloadCost of(std::size_t workload) const;
  [[nodiscard]] WorkloadCost primary() const { return of(0); }

 private:
  const Problem& problem_;
  Compute compute_;
  mutable std::mutex mutex_;
  mutable std::vector<std::optional<WorkloadCost>> known_;
};

}  // namespace kw

#include "problem/workload_costs.hpp"

#include <utility>

namespace kw {

WorkloadCosts::WorkloadCosts(const Problem& problem, Compute compute)
    : problem_(problem), compute_(std::move(compute)), known_(problem.workloads.size()) {}

WorkloadCost WorkloadCosts::of(std::size_t workload) const {
  const std::lock_guard lock(mutex_);
  auto& known = known_.at(workload);
  if (!known) known = compute_(problem_, problem_.workloads[workload]);
  return *known;
}

}  // namespace kw

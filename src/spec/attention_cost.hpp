#pragma once
// Work of an attention workload that no kernel can avoid.

#include "spec/problem.hpp"

namespace kw {

[[nodiscard]] WorkloadCost attention_cost(const Problem& problem, const Workload& workload);

}  // namespace kw

#include "verify/checking/asked_roundings.hpp"

#include "problem/operator.hpp"

namespace kw {

std::optional<CheckCase> with_roundings_asked(const Problem& problem, const CheckCase& one, double steps,
                                              double error) {
  if (steps <= k_most_steps_asked || steps > k_most_steps_asked_in_doubt) return std::nullopt;
  CheckCase most;
  most.distribution = one.distribution;
  most.allowed.assign(one.allowed.size(), 0.0);
  allow_roundings(most, 1.0);
  if (most.allowed.empty() || error > most.allowed.front()) return std::nullopt;
  const auto found = operator_of(problem).checks.conditioning(problem, problem.workloads[one.workload], *inputs_of(one),
                                                              k_most_steps_asked_in_doubt);
  if (!found || *found <= 0) return std::nullopt;
  CheckCase asked = one;
  asked.conditioning = *found;
  allow_roundings(asked, *found);
  return asked.allowed == one.allowed ? std::nullopt : std::optional(std::move(asked));
}

}  // namespace kw

#pragma once
// One budget for many problems: each gets an equal share of what is left when it begins, so that what one leaves over
// goes to the others.

#include <cstdint>

#include "loop/budget.hpp"

namespace kw {

/// What a problem may use. `per_problem` limits each, `all` the suite, of which `used` is gone; where both say
/// something, the less counts. `waiting` problems have not begun, this one among them, and `devices` work at once, so
/// that wall clock, which passes for all of them together, is divided by the turns that are left.
[[nodiscard]] BudgetLimits budget_share(const BudgetLimits& per_problem, const BudgetLimits& all, const BudgetUse& used,
                                        std::int64_t waiting, std::int64_t devices);

/// Whether any part of the suite's budget is used up.
[[nodiscard]] bool is_used_up(const BudgetLimits& all, const BudgetUse& used);

}  // namespace kw

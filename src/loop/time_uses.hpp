#pragma once
// What the wall clock of all parts of a run went to, one entry for each stage and activity. For the loop's record.

#include <vector>

#include "base/time_ledger.hpp"
#include "record/time_use.hpp"

namespace kw {

/// What the parts of a run spent before, and this one's so far.
[[nodiscard]] std::vector<TimeUse> joined_uses(std::vector<TimeUse> before,
                                               const std::vector<TimeLedger::Entry>& entries);

}  // namespace kw

#pragma once
// New data whose answer is already known. Asking the oracle for every timed launch would take longer than timing, and
// data that come back could be answered from memory that a kernel kept. So the data of a case are turned by symmetries
// of the operator: columns are exchanged and change their signs, and the answer follows exactly.

#include "base/rng.hpp"
#include "verify/check_suite.hpp"

namespace kw {

/// The case with other operands and the answer to them; captured tensors and what is allowed stay.
[[nodiscard]] CheckCase with_fresh_data(const Problem& problem, const CheckCase& one, Rng& rng);

}  // namespace kw

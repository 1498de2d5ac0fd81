#pragma once
// What roundings do to the answer of a large case. Small ones are asked as they are drawn; a large one where a kernel
// is a little off, for asking takes seconds. Without it an honest kernel would be refused where the plain one was
// lucky.

#include "verify/checking/check_suite.hpp"

namespace kw {

/// The case with what it allows once its data were asked. Nothing where they were asked when they were drawn, where
/// `steps`, of an obvious evaluation of its workload, are too many, where `error` is more than could be allowed, and
/// where nothing more is allowed.
[[nodiscard]] std::optional<CheckCase> with_roundings_asked(const Problem& problem, const CheckCase& one, double steps,
                                                            double error);

}  // namespace kw

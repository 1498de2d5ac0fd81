#pragma once
// Where the answer of a case is a kernel's own output (CheckSuite::adopt), that kernel may be the one that errs: a
// plain sum of 393,216 exponentials was off by 1e-4 in rows that a few large ones dominate, and by 1e-6 in the rows
// that the oracle had answered. So the oracle is asked about every row in which a candidate is over the limit.

#include "verify/checking/accuracy.hpp"
#include "verify/checking/check_suite.hpp"

namespace kw {

/// How wrong `output` of a candidate is, with the oracle's answer in every row in which it is over the limit of the
/// case: `bytes` as the candidate left them. Nothing where the case is the oracle's anyway, where the oracle cannot be
/// asked about single rows of this output, or where these rows are more than it answers in a second.
[[nodiscard]] std::optional<OutputError> ask_about_doubted_rows(const Problem& problem, const CheckCase& one,
                                                                std::size_t output, std::span<const std::byte> bytes,
                                                                std::uint32_t poison, const ParallelFor& parallel);

}  // namespace kw

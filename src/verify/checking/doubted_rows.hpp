#pragma once
// Where the answer of a case is a kernel's own output (CheckSuite::adopt), that kernel may be the one that errs: a
// plain sum of 393,216 exponentials was off by 1e-4 in rows that a few large ones dominate, and by 1e-6 in the rows
// that the oracle had answered. So the oracle is asked about the rows in which a candidate is over the limit.
//
// In these rows it is known then what both kernels err, and a candidate is allowed what it would have been allowed if
// the oracle had answered all rows: a factor of what the plain kernel errs in any of them. Where the oracle cannot
// answer all rows in doubt it answers those in which the two differ most. In the others they differ by less, so a
// candidate that is right there is off by no more than what is allowed and twice what the plain kernel errs.

#include "verify/checking/accuracy.hpp"
#include "verify/checking/check_suite.hpp"

namespace kw {

/// What is allowed of an output where it may be the plain kernel that errs.
struct DoubtedLimits {
  OutputForm form;           ///< of the oracle's answer
  std::size_t elements = 0;  ///< of the output
  double known = 0;          ///< what is allowed wherever the plain kernel errs as little as it was seen to

  /// What a kernel may err in rows in which the plain one errs by `plain`.
  [[nodiscard]] double allowed(double plain) const;
  /// Whether a kernel and the plain one could differ by that much if both were right.
  [[nodiscard]] bool could_both_be_right(double difference) const;
};

/// The worst of `rows`, as many as `most`, ascending.
[[nodiscard]] std::vector<std::int64_t> worst_rows(std::vector<DoubtedRow> rows, std::int64_t most);

struct AskedError {
  OutputError error;  ///< against the oracle in the rows that it was asked about, else against the kernel's own output
  double limit = 0;   ///< what that may be, now that it is known what the plain kernel errs in these rows
};

/// How wrong `output` of a candidate is, with the oracle's answer in rows in which it is over the limit of the case:
/// `bytes` as the candidate left them. Nothing where the case is the oracle's anyway, where the oracle cannot be asked
/// about single rows of this output or takes more than a second for one, or where the plain kernel is wrong in them.
/// Nor where the two differ by more than they could if both were right: then nobody is asked.
[[nodiscard]] std::optional<AskedError> ask_about_doubted_rows(const Problem& problem, const CheckCase& one,
                                                               std::size_t output, std::span<const std::byte> bytes,
                                                               std::uint32_t poison, const ParallelFor& parallel);

}  // namespace kw

#pragma once
// Which rows of an output the oracle answers where all of them would take too long.

#include <cstdint>
#include <vector>

#include "base/rng.hpp"
#include "problem/answer_rows.hpp"
#include "problem/problem.hpp"

namespace kw {

/// The first, the last, and others at random, ascending; all where as many are wanted. `wanted` is 2 at least.
[[nodiscard]] std::vector<std::int64_t> some_of(std::int64_t all, std::int64_t wanted, Rng& rng);

/// Of the whole answer to the workload, of all outputs together. `steps` as in WorkloadCost.
[[nodiscard]] AnswerWork whole_answer_work(const Problem& problem, const Workload& workload, double steps);

/// How many rows `affordable` pays for, all at most.
[[nodiscard]] std::int64_t rows_paid_for(const AnswerRows& of, const AnswerWork& affordable);

/// As many rows as `affordable` pays for, at least `least`, or all; in some of the slices. The first, the last, and
/// others at random, of slices as of rows; ascending. A kernel that is wrong in a share s of the rows, or of the
/// slices, is found out by n of them with the probability 1 - (1 - s)^n.
[[nodiscard]] std::vector<std::int64_t> sampled_rows(const AnswerRows& of, const AnswerWork& affordable, Rng& rng,
                                                     std::int64_t least = k_least_rows);

}  // namespace kw

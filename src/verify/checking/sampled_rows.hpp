#pragma once
// Which rows of an output the oracle answers where all of them would take too long.

#include <cstdint>
#include <vector>

#include "base/rng.hpp"
#include "problem/operator.hpp"
#include "problem/problem.hpp"

namespace kw {

/// Of the whole answer to the workload, of all outputs together. `steps` as in WorkloadCost.
[[nodiscard]] AnswerWork whole_answer_work(const Problem& problem, const Workload& workload, double steps);

inline constexpr std::int64_t k_least_rows = 32;

/// Of `rows` that cost `all` together: as many as `affordable` pays for, at least `least`, or all. The first, the last,
/// and others at random; ascending. A kernel that is wrong in a share s of the rows is found out by n of them with the
/// probability 1 - (1 - s)^n.
[[nodiscard]] std::vector<std::int64_t> sampled_rows(std::int64_t rows, const AnswerWork& all,
                                                     const AnswerWork& affordable, Rng& rng,
                                                     std::int64_t least = k_least_rows);

/// The same within `most` of `slices`, which are as many rows in succession each: the first, the last, and others at
/// random. What the oracle reads for one row of a slice may be as much as it reads for all of them.
[[nodiscard]] std::vector<std::int64_t> rows_of_slices(std::int64_t rows, std::int64_t slices, std::int64_t most,
                                                       const AnswerWork& all, const AnswerWork& affordable, Rng& rng);

}  // namespace kw

#pragma once
// What the oracle answers to a case of a suite, which every candidate's output is compared with.

#include <cstdint>

#include "verify/checking/check_suite.hpp"

namespace kw {

/// Whether the oracle answers all rows of a workload with this work.
[[nodiscard]] bool is_answered_whole(const AnswerWork& whole, const SuiteLimits& limits);

/// Fills expected and scales. errc::unscorable where an answer is NaN, +infinity or what the output cannot hold.
[[nodiscard]] Result<void> answer_whole(const Problem& problem, const ParallelFor& parallel, CheckCase& one);

/// Fills sampled, of rows that `rng` chooses and no kernel knows, and of large inputs what is kept. The number of rows;
/// errors as above and of drawing.
[[nodiscard]] Result<std::int64_t> answer_rows(const Problem& problem, const AnswerWork& whole, Rng& rng,
                                               const ParallelFor& parallel, CheckCase& one);

}  // namespace kw

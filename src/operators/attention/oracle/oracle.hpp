#pragma once
// Attention in double precision, straight from the definition in problem/problem.hpp.

#include <optional>
#include <span>
#include <vector>

#include "problem/answer_rows.hpp"
#include "problem/oracle.hpp"
#include "problem/values.hpp"

namespace kw {

/// Inputs Q, K, V and the captured tensors; outputs O and, where the problem asks for it, LSE. Work is shared out in
/// blocks of query rows.
[[nodiscard]] OutputValues attention_oracle(const Problem& problem, const Axes& axes, const InputValues& inputs,
                                            const ParallelFor& parallel);

/// Rows are query rows, numbered along [B, Hq, Sq], and slices are heads. A device draws large operands: the fewer
/// heads are asked for, the less the host has to draw of keys and values.
[[nodiscard]] AnswerRows attention_oracle_rows(const Problem& problem, const Axes& axes, const AnswerWork& whole);
/// Their rows of O and their elements of LSE.
[[nodiscard]] std::vector<AnswerSample> attention_oracle_sample(const Problem& problem, const Axes& axes,
                                                                const InputValues& inputs,
                                                                std::span<const std::int64_t> rows,
                                                                const ParallelFor& parallel);
/// The rows themselves in Q, and all keys and values that they see.
[[nodiscard]] std::optional<OperandReads> attention_oracle_reads(const Problem& problem, const Axes& axes,
                                                                 std::span<const std::int64_t> rows);

}  // namespace kw

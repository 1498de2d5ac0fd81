#pragma once
// Undoes what a problem's own function does to scores. Relative position and steep linear biases give nearly all of the
// weight to the keys at one end, so that a kernel could leave the others out and be right on every random input. Data
// whose scores lean the other way by as much make every key count. Problems that favour no keys are left alone.

#include "base/result.hpp"
#include "base/rng.hpp"
#include "oracle/oracle.hpp"
#include "spec/problem.hpp"

namespace kw {

/// Whether the function alone moves scores within a row so far apart that some keys hardly count.
[[nodiscard]] Result<bool> favours_some_keys(const Problem& problem, const Workload& workload);

/// `inputs` are the operands, standard normal; of query heads that share keys, one drawn from `rng` is levelled.
void level_scores(const Problem& problem, const Workload& workload, const CaptureData& captures, InputValues& inputs,
                  Rng& rng);

}  // namespace kw

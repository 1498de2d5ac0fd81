#pragma once
// Which rows of an output the oracle answers where all of them would take too long.

#include <cstdint>
#include <vector>

#include "base/rng.hpp"

namespace kw {

/// Of `rows` that cost `flops` together: as many as `affordable` useful FLOPs pay for, at least 32, or all. The first,
/// the last, and others at random; ascending. A kernel that is wrong in a share s of the rows is found out by n of them
/// with the probability 1 - (1 - s)^n.
[[nodiscard]] std::vector<std::int64_t> sampled_rows(std::int64_t rows, double flops, double affordable, Rng& rng);

}  // namespace kw

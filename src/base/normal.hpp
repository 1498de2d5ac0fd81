#pragma once
// Standard normal numbers, many at a time: the data of every timed launch are drawn anew, and Rng::normal() takes ten
// times as long for one.

#include <span>

#include "base/rng.hpp"

namespace kw {

/// Fills `values` with independent standard normal numbers. The quantiles of 4096 equally likely cells are exact, a
/// number is uniform within its cell, and the two outermost cells are drawn from the normal tail (Marsaglia 1964), so
/// that no range is cut off. The sequence is the same on every platform for one state of `rng`.
void fill_normal(std::span<float> values, Rng& rng);

}  // namespace kw

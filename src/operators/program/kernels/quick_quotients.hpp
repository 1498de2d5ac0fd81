#pragma once
// Quotients by the reciprocal that a GPU has an instruction for. They are within two units in the last place where the
// divisor's magnitude is from 2^-126 to 2^126 (CUDA C++ Programming Guide, __fdividef), which must be known of it: a
// division for all numbers is a dozen instructions and a branch.

#include <cstddef>
#include <set>
#include <vector>

#include "program/stages/stage.hpp"

namespace kw {

/// Buffers whose elements have such a magnitude, or are zero, infinite or no number, of which these quotients are right
/// too: square roots, and sums of a row's exponentials of the differences from its maximum, one of which is 1.
[[nodiscard]] std::set<std::size_t> quick_divisors(const std::vector<Stage>& stages);

/// Whether the quotient may be computed so, where `buffers` are those: also one of a constant and 1 + e^x, which is 0
/// where it would be less than 2^-126 times the constant.
[[nodiscard]] bool is_quick_quotient(const StageNode& quotient, const std::set<std::size_t>& buffers);

}  // namespace kw

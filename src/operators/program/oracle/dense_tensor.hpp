#pragma once
// The numbers of one tensor as the oracle of tensor programs reads and gives them.

#include <cstdint>
#include <vector>

#include "program/graph/graph.hpp"

namespace kw {

/// Row-major, the last axis contiguous; one value where there are no axes. Integers and booleans (0 or 1) are held as
/// doubles: exactly, up to 2^53. Values of f32 and 16-bit leaves are already rounded by whoever made them; what the
/// oracle computes is not rounded to any floating type.
struct DenseTensor {
  ElementType dtype = ElementType::float32;
  std::vector<std::int64_t> extents;
  std::vector<double> values;
};

/// What a number becomes that is stored as this type: integers are cut towards zero and wrap around as two's complement
/// does (int64 as far as a double goes), booleans are 0 or 1, floats stay as they are. No integer holds what is not
/// finite; it stays, so that it is seen.
[[nodiscard]] double held_as(ElementType type, double value);

}  // namespace kw

#pragma once
// Groups of elements of an operand, as a norm and a sum have them: an element of the result needs all of one.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "base/parallel.hpp"
#include "operators/program/oracle/index_space.hpp"
#include "operators/program/oracle/ranges.hpp"

namespace kw::program_oracle {

/// Of the first operand.
struct OperandGroups {
  SplitSpace space;                                      ///< kept: by group; walked: within it
  std::function<std::int64_t(std::int64_t element)> of;  ///< the group of an element of the result
  std::int64_t run = 1;  ///< from each multiple of it on, as many elements of the result are of one group
};

/// What these elements of the result read. Nothing where that is more than about `most` ranges.
[[nodiscard]] std::optional<Ranges> reads_of_groups(const OperandGroups& groups, const Ranges& wanted,
                                                    const ParallelFor& parallel, std::int64_t most);

}  // namespace kw::program_oracle

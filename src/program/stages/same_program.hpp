#pragma once
// Whether two readings of one module, with its axes bound differently, need the same kernels. Calls and extents alone
// do not say so: an axis that is 1 is repeated along another one, and is not where it has another value.

#include "base/result.hpp"
#include "program/graph/graph.hpp"
#include "tensor/tensor.hpp"

namespace kw {

/// `axes` are those `other` was read with. Beyond check_same_structure, the stages that both are lowered to read the
/// same elements; what has no stages is compared by its graph alone. errc::program_structure says what differs first.
[[nodiscard]] Result<void> check_same_program(const Program& first, const Program& other, const Axes& axes);

}  // namespace kw

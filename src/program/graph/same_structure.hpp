#pragma once
// Whether two readings of one module, with its axes bound differently, are one program: the same calls in the same
// order with the same attributes, and extents that follow from the axes as the first reading says. A kernel that was
// written for one of them is then right for both.

#include "base/result.hpp"
#include "program/graph/graph.hpp"
#include "tensor/tensor.hpp"

namespace kw {

/// `axes` are those `other` was read with. errc::program_structure says what differs first, and where in the file.
[[nodiscard]] Result<void> check_same_structure(const Program& first, const Program& other, const Axes& axes);

}  // namespace kw

#pragma once
// How a loss per element or row becomes what the user asked for.

#include "program/stages/decomposition.hpp"

namespace kw {

/// The values of `frame` as they are ('none'), their sum, or their mean.
[[nodiscard]] Result<void> reduced_loss(Decomposition& d, const StageAxes& frame, const StageExpr& value);
/// The frame of what tensors broadcast to.
[[nodiscard]] Result<StageAxes> common_frame(const Decomposition& d, std::initializer_list<const char*> names);

}  // namespace kw

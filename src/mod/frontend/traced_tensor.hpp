#pragma once
// Captured tensors while some of their dimensions have no index yet.

#include <vector>

#include "mod/expression/expr_builder.hpp"
#include "mod/frontend/value.hpp"

namespace kw {

/// A tensor with what was done to it so far; its element when every dimension has its index.
[[nodiscard]] ModValue tensor_value(ExprBuilder& builder, TensorRef tensor);
/// The extents, which are axes, of the dimensions that have no index yet.
[[nodiscard]] std::vector<ModValue> open_extents(ExprBuilder& builder, const TensorRef& tensor);

}  // namespace kw

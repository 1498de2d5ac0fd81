#pragma once
// Factors of products that are computed from tensors, as the exponentials of attention's scores are: on a GPU, where
// many columns of the result are made of each, they are stored first. Tiles then read them as they read tensors.

#include "codegen/dialect.hpp"
#include "program/stages/stage.hpp"

namespace kw {

/// Gives such a factor a stage and a scratch buffer of its own, before the products.
void store_computed_factors(StageProgram& program, Dialect dialect);

}  // namespace kw

#pragma once
// The styles on tensor cores share one text (kernels/attention/tensor_cores.cu) and differ in the layout of tiles in
// shared memory and in the two products.

#include <string>
#include <vector>

#include "codegen/text.hpp"
#include "operators/attention/kernels/cuda/mma_shape.hpp"
#include "problem/problem.hpp"
#include "record/bundle.hpp"

namespace kw {

struct TensorCoreParts {
  const char* generator;
  std::vector<Tunable> choices;    ///< structural, as in Style
  std::vector<std::string> notes;  ///< for the comment at the top
  const char* file;  ///< whose section "loop" goes over the panels; its holes are filled as the whole text's
  /// `products`, `chunk_offset` of a tile's (row, chunk, ROWS), `tiles_begin`, `resident` blocks that
  /// the compiler leaves registers for, and what the loop has holes for.
  Fillings products;
};

/// Structural choices of both styles.
[[nodiscard]] std::vector<Tunable> tensor_core_choices();

/// With the defines that every such kernel needs, without tunables and constraints.
[[nodiscard]] Bundle tensor_core_bundle(const Problem& problem, const IntBindings& structure, const MmaShape& shape,
                                        const TensorCoreParts& parts);

}  // namespace kw

#pragma once
// How each operator becomes stages: a few lines each, in the files *_decompositions.cpp by theme.

#include <span>
#include <string_view>

#include "program/stages/decomposition.hpp"

namespace kw {

struct DecompositionRow {
  std::string_view op;  ///< the node's name
  Result<void> (*decompose)(Decomposition& d);
};

[[nodiscard]] std::span<const DecompositionRow> elementwise_decompositions();
[[nodiscard]] std::span<const DecompositionRow> activation_decompositions();
[[nodiscard]] std::span<const DecompositionRow> binary_decompositions();
[[nodiscard]] std::span<const DecompositionRow> reduction_decompositions();
[[nodiscard]] std::span<const DecompositionRow> norm_decompositions();
[[nodiscard]] std::span<const DecompositionRow> scan_decompositions();
[[nodiscard]] std::span<const DecompositionRow> layout_decompositions();
[[nodiscard]] std::span<const DecompositionRow> joining_decompositions();
[[nodiscard]] std::span<const DecompositionRow> indexing_decompositions();
[[nodiscard]] std::span<const DecompositionRow> creation_decompositions();
[[nodiscard]] std::span<const DecompositionRow> product_decompositions();
[[nodiscard]] std::span<const DecompositionRow> attention_decompositions();
[[nodiscard]] std::span<const DecompositionRow> recurrence_decompositions();
[[nodiscard]] std::span<const DecompositionRow> convolution_decompositions();
[[nodiscard]] std::span<const DecompositionRow> pooling_decompositions();
[[nodiscard]] std::span<const DecompositionRow> resampling_decompositions();
[[nodiscard]] std::span<const DecompositionRow> normalisation_decompositions();
[[nodiscard]] std::span<const DecompositionRow> loss_decompositions();
[[nodiscard]] std::span<const DecompositionRow> class_loss_decompositions();

/// Null where the operator has none.
[[nodiscard]] const DecompositionRow* find_decomposition(std::string_view op);

}  // namespace kw

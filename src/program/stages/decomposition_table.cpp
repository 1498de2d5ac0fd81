#include "program/stages/decomposition_table.hpp"

#include <array>

namespace kw {

const DecompositionRow* find_decomposition(std::string_view op) {
  constexpr std::array k_themes = {
      elementwise_decompositions, activation_decompositions, binary_decompositions,     reduction_decompositions,
      norm_decompositions,        scan_decompositions,       layout_decompositions,     joining_decompositions,
      indexing_decompositions,    creation_decompositions,   product_decompositions,    attention_decompositions,
      convolution_decompositions, pooling_decompositions,    resampling_decompositions, normalisation_decompositions,
      loss_decompositions,        class_loss_decompositions, recurrence_decompositions,
  };
  for (const auto theme : k_themes) {
    for (const auto& row : theme()) {
      if (row.op == op) return &row;
    }
  }
  return nullptr;
}

}  // namespace kw

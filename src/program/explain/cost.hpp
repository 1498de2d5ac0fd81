#pragma once
// What a program costs at least, whoever computes it: products counted, and bytes that are read and written once.

#include <cstdint>

#include "program/graph/graph.hpp"

namespace kw {

struct ProgramCost {
  double product_flops = 0.0;  ///< two for each multiplication and addition of matrix products, convolutions, attention
  double input_bytes = 0.0;
  double parameter_bytes = 0.0;  ///< of parameters alone: buffers are not counted
  double output_bytes = 0.0;
};

[[nodiscard]] ProgramCost cost_of(const Program& program);
/// Of one node; 0 for an operator that is no product.
[[nodiscard]] double product_flops(const Graph& graph, const Node& node);

}  // namespace kw

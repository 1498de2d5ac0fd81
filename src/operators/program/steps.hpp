#pragma once
// How much work an obvious evaluation of a graph is.

#include "program/graph/graph.hpp"

namespace kw {

[[nodiscard]] double elements_of(const TensorType& type);
/// Of an obvious loop over the call: its products (a multiplication and an addition count 2), or the largest of what it
/// reads and writes.
[[nodiscard]] double steps_of(const Graph& graph, const Node& node);
[[nodiscard]] double steps_of(const Graph& graph);

}  // namespace kw

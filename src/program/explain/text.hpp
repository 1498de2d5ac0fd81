#pragma once
// A program as text for people: what `kernelwright explain FILE.py` prints. Deterministic.

#include <string>

#include "program/graph/graph.hpp"

namespace kw {

/// Axes, inputs, parameters by their names in state_dict(), the graph node by node with attributes and shapes, outputs,
/// and what it costs at least. Lines of the same sections for every program; ends with a newline.
[[nodiscard]] std::string program_text(const Program& program);

/// The call: operands by name ("%3" where they have none), then the attributes that are not PyTorch's defaults.
[[nodiscard]] std::string node_text(const Graph& graph, const Node& node);

}  // namespace kw

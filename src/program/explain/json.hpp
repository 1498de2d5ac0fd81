#pragma once
// A program as one JSON object, for other programs: what text.hpp prints, with nothing left out.

#include <string>

#include "program/graph/graph.hpp"

namespace kw {

/// Keys: name, mode, axes, inputs, parameters, nodes, outputs, product_flops, bytes. Ends with a newline.
[[nodiscard]] std::string program_json(const Program& program);

}  // namespace kw

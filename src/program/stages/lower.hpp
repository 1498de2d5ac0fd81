#pragma once
// From the graph of a module to its stages.

#include <vector>

#include "base/result.hpp"
#include "program/stages/stage.hpp"

namespace kw {

/// `outputs` are values of the graph. Nodes that none of them needs are left out; dropout is taken as the identity.
/// errc::program_unsupported, with operator and place, for an operator without a decomposition.
[[nodiscard]] Result<StageProgram> lower(const Graph& graph, const std::vector<std::size_t>& outputs);

}  // namespace kw

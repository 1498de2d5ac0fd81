#pragma once
// A proposer for a test: coordinate descent over the tunables of one style's bundle, from their defaults. The whole of
// what a proposer has to bring.

#include "propose/registry.hpp"

namespace kw {

/// "coordinate_descent"
[[nodiscard]] const ProposerEntry& coordinate_descent_entry();

}  // namespace kw

#pragma once
// The table that candidate code calls through: every entry goes to the block that the calling host thread runs.

#include "device/sim/runtime/abi.hpp"

namespace kw::sim {

/// All functions; the stacks are the caller's to fill in.
[[nodiscard]] kw_sim::Runtime callbacks();

}  // namespace kw::sim

#pragma once
// The proposers in which a language model leads. While it thinks, the device tunes what it wrote, and in a hybrid run
// also goes on with the built-in search.

#include "propose/registry.hpp"

namespace kw {

/// "llm"
[[nodiscard]] const ProposerEntry& llm_entry();
/// "hybrid"
[[nodiscard]] const ProposerEntry& hybrid_entry();

}  // namespace kw

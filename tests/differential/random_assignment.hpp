#pragma once
// A random value for every tunable; the constraints between them are the caller's.

#include <vector>

#include "base/rng.hpp"
#include "record/bundle.hpp"

namespace kw {

[[nodiscard]] inline IntBindings random_assignment(const std::vector<Tunable>& tunables, Rng& rng) {
  IntBindings chosen;
  for (const auto& t : tunables) {
    chosen[t.name] = t.values[static_cast<std::size_t>(rng.below(static_cast<std::int64_t>(t.values.size())))];
  }
  return chosen;
}

}  // namespace kw

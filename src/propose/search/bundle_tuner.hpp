#pragma once
// Searches the tunables of one bundle that somebody else wrote and that was verified already, from its assignment on.

#include <cstdint>
#include <memory>

#include "propose/proposer.hpp"
#include "record/attempt.hpp"
#include "spec/problem.hpp"
#include "target/device_facts.hpp"

namespace kw {

/// `verified` is accepted and is not proposed again. Null when its bundle has no tunable with a choice. `problem` must
/// outlive the tuner.
[[nodiscard]] std::unique_ptr<Proposer> make_bundle_tuner(const Attempt& verified, const Problem& problem,
                                                          const DeviceFacts& device, std::uint64_t seed);

}  // namespace kw

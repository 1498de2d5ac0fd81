#pragma once
// Searches the tunables of one bundle that somebody else wrote, from its assignment on. Every candidate assigns all of
// them, so that the bundle's dispatch table has no say.

#include <cstdint>
#include <memory>

#include "hardware/device_facts.hpp"
#include "problem/problem.hpp"
#include "propose/proposer.hpp"
#include "propose/search/search_proposer.hpp"
#include "record/attempt.hpp"

namespace kw {

/// `verified` is accepted and is not proposed again. Null when its bundle has no tunable with a choice. `problem` must
/// outlive the tuner. Where its dispatch table assigned tunables, the first proposal is what the primary workload had.
[[nodiscard]] std::unique_ptr<Proposer> make_bundle_tuner(const Attempt& verified, const Problem& problem,
                                                          const DeviceFacts& device, std::uint64_t seed);

/// The style whose own text for this problem and device `bundle` is, with the same tunables; empty where there is none.
[[nodiscard]] std::string style_that_writes(const Bundle& bundle, const Problem& problem, const DeviceFacts& device);

/// errc::candidate_tunable when no tunable of the bundle has more than one value.
[[nodiscard]] Result<void> require_choice(const Bundle& bundle);

/// The same for a bundle that was not verified: what `start` has for the primary workload is proposed first. Where a
/// style writes this very bundle, its seeds and cost estimates guide the search. `options.style` is ignored. Fails as
/// require_choice does.
[[nodiscard]] Result<std::unique_ptr<Proposer>> make_bundle_search(const Candidate& start,
                                                                   const SearchOptions& options);

/// The proposer that does so over a run of its own.
inline constexpr std::string_view k_retune = "retune";
[[nodiscard]] const ProposerEntry& retune_entry();

}  // namespace kw

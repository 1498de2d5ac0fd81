#pragma once
// The built-in proposer: searches one style's space. Seeds first (the style's own guesses, then past winners), then
// iterated local search over single changes in the order of the style's cost estimate, or of what a model foretells
// that learnt from the archive. Never proposes a candidate
// twice, and ends only when the space does.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "codegen/codegen.hpp"
#include "hardware/device_facts.hpp"
#include "problem/problem.hpp"
#include "propose/candidate_ranking.hpp"
#include "propose/proposer.hpp"
#include "propose/registry.hpp"
#include "record/bundle.hpp"

namespace kw {

struct SearchOptions {
  const Problem* problem = nullptr;  ///< must outlive the proposer
  DeviceFacts device;
  std::string target;               ///< "opencl"
  std::string style;                ///< "vector"
  std::uint64_t seed = 0;           ///< same seed and observations, same proposals
  std::vector<Candidate> archived;  ///< past winners, most relevant first; at most six are used
  /// What a model that learnt from the archive says; null where there was too little to learn from.
  CandidateRanking ranking = nullptr;
  ParallelFor parallel = serial_for;  ///< emits variants of the style
};

/// errc::codegen_style or codegen_unsupported when the style cannot write this problem.
[[nodiscard]] Result<std::unique_ptr<Proposer>> make_search_proposer(const SearchOptions& options);
/// The same for a style that no registry lists; `style` must outlive the proposer, `options.style` is ignored.
[[nodiscard]] Result<std::unique_ptr<Proposer>> make_search_proposer(const Style& style, const SearchOptions& options);

/// "search"
[[nodiscard]] const ProposerEntry& search_entry();
/// The part of a run's context that a search uses.
[[nodiscard]] SearchOptions search_options(const ProposerContext& context);

}  // namespace kw

#pragma once
// The proposers of a program. Each implementation below propose/ fills one ProposerEntry, and the program lists them
// (catalogue/proposers.cpp); the loop and the command line know them by name alone.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/parallel.hpp"
#include "base/result.hpp"
#include "hardware/device_facts.hpp"
#include "problem/problem.hpp"
#include "problem/workload_costs.hpp"
#include "propose/candidate_ranking.hpp"
#include "propose/proposer.hpp"
#include "record/attempt.hpp"
#include "record/bundle.hpp"
#include "record/requirement.hpp"
#include "record/run_record.hpp"

namespace kw {

struct LlmAccess;

namespace errc {
inline constexpr ErrorCode proposer_unknown{"proposer.unknown"};  ///< lists the known ones
}  // namespace errc

/// All that a proposer may build on; each takes what it needs. Deterministic for a run and its resumption.
struct ProposerContext {
  const Problem* problem = nullptr;  ///< outlives the proposer
  const WorkloadCosts* costs =
      nullptr;         ///< of the problem, outlives the proposer; null: computed where they are needed
  DeviceFacts device;  ///< with the calibrated peaks
  const DeviceFacts* measured = nullptr;  ///< the same with its peaks as they were last measured, outlives the
                                          ///< proposer; null: they stay as they are
  std::string target;                     ///< "opencl"
  std::string style;                      ///< whose space is searched; empty: none writes the problem
  std::uint64_t seed = 0;
  std::vector<Candidate> archived;        ///< past winners, the most relevant first
  CandidateRanking ranking = nullptr;     ///< of the style's candidates, learnt from earlier runs; null: there is none
  std::vector<Attempt> past;              ///< verified by earlier runs on this problem and device, oldest first
  std::vector<std::string> lessons;       ///< what models learnt in them, oldest first (propose/llm/prompts/lesson.hpp)
  std::optional<Candidate> start;         ///< for those that need one
  BaselineRecord plain;                   ///< median 0: not measured
  std::vector<Requirement> requirements;  ///< what the static gate demands besides the device's limits
  std::optional<std::int64_t> token_limit;  ///< of the run
  const LlmAccess* model = nullptr;         ///< for those that ask one (propose/llm/llm_proposer.hpp); else null
  ParallelFor parallel = serial_for;        ///< for what a proposer computes
};

struct ProposerEntry {
  std::string_view name;     ///< "search"; stored in archives: never rename
  std::string_view summary;  ///< for the command line's help: "the built-in search"
  bool asks_model = false;   ///< ProposerContext::model is set for it, and a run without a model is refused
  bool needs_start = false;  ///< it goes on from one bundle: for kernelwright retune, not for optimize
  Result<std::unique_ptr<Proposer>> (*make)(const ProposerContext& context);
};

/// All proposers, the default first. Each program defines this by the list that it links; the product's is
/// catalogue/proposers.cpp.
[[nodiscard]] std::span<const ProposerEntry* const> proposers();
/// errc::proposer_unknown when there is none.
[[nodiscard]] Result<const ProposerEntry*> find_proposer(std::string_view name);
/// Names of those that need no bundle to start from; with `asking_models`, of those that ask a model.
[[nodiscard]] std::vector<std::string> proposer_names(bool asking_models = false);
/// "search, llm or hybrid"
[[nodiscard]] std::string one_of(const std::vector<std::string>& names);

}  // namespace kw

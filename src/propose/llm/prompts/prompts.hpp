#pragma once
// The three kinds of prompts. Each is complete in itself: a system message and one user message with the problem, the
// contract, the latest round and the best kernel. No history grows, and no turn depends on what a provider remembers.
// Pure: the same arguments give the same bytes, which golden files hold (tests/golden/prompts/).
//
// What a model never sees: hidden evidence (Evidence::hidden), names and sizes of held-out workloads, input data,
// seeds, the reference's answer beyond the worst elements of visible workloads, compiler logs of held-out sizes, keys,
// paths.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hardware/device_facts.hpp"
#include "problem/problem.hpp"
#include "problem/workload_costs.hpp"
#include "propose/llm/prompts/exemplars.hpp"
#include "propose/llm/prompts/prompt_templates.hpp"
#include "propose/llm/prompts/tried_step.hpp"
#include "record/attempt.hpp"
#include "record/chat.hpp"
#include "record/requirement.hpp"
#include "record/run_record.hpp"
#include "record/turn.hpp"

namespace kw {

namespace errc {
inline constexpr ErrorCode prompt_part{"prompt.part"};  ///< lists those that can be left out
}  // namespace errc

/// Parts of a prompt that can be left out, to measure what they give.
struct PromptParts {
  bool goal = true;     ///< what to reach next, as a time
  bool notes = true;    ///< those of knowledge/ that fit
  bool lessons = true;  ///< what was learnt earlier is shown, and asked for
};

/// `left_out`: "goal", "notes" and "lessons" between commas. errc::prompt_part for any other word.
[[nodiscard]] Result<PromptParts> parse_prompt_parts(std::string_view left_out);

/// What stays the same over a run. Pointers are not owned and outlive the call.
struct PromptContext {
  const Problem* problem = nullptr;
  const WorkloadCosts* costs = nullptr;  ///< of the problem; null: computed for each prompt
  DeviceFacts device;
  /// The bound that the run's first prompt named. Where the peaks were measured again since, prompts say why theirs is
  /// another. Absent before the first prompt, and without peaks.
  std::optional<double> first_bound_ns;
  std::string target;                          ///< "opencl", "cuda"
  std::vector<std::string> constraints;        ///< the user's, in words
  std::vector<Requirement> requirements;       ///< those the static gate checks
  BaselineRecord plain;                        ///< median 0: not measured, then not mentioned
  bool plan = false;                           ///< the first answer is asked for a plan before the code
  std::optional<std::string> user_prompt;      ///< put first, word for word
  const PromptTemplates* templates = nullptr;  ///< null: as shipped
  PromptParts parts;
  /// What earlier turns tried and how it went, oldest first; the last twelve are shown. A step that was taken is not
  /// suggested again.
  std::vector<TriedStep> tried;
  std::vector<std::string> lessons;  ///< to be shown, oldest first (lesson.hpp)
  std::string judgement;             ///< what a judge said of the kernel (judge.hpp); empty: nobody was asked
};

/// `variation` 0, 1, 2, ...: parallel first prompts ask for different strategies (OP/strategies.md), round and round.
/// `best` is that of the run, which is shown and which the goal starts from; null while there is none.
[[nodiscard]] std::vector<ChatMessage> first_prompt(const PromptContext& context,
                                                    const std::vector<Exemplar>& exemplars, int variation,
                                                    const Attempt* best = nullptr);

/// After `last` went through the verifier: how to fix it when it was rejected, one concrete step when it is right.
/// `best` is the best accepted attempt of the run, null while there is none; it may be `last` itself (same ordinal).
/// The kernel to continue from is always the best one. Exemplars are shown only when `last` is right.
[[nodiscard]] std::vector<ChatMessage> feedback_prompt(const PromptContext& context, const Attempt& last,
                                                       const Attempt* best, const std::vector<Exemplar>& exemplars);

/// After a reply that gave no candidate. `wrong` is a rejected kernel that is still to be repaired; null: none is.
[[nodiscard]] std::vector<ChatMessage> fault_prompt(const PromptContext& context, const Turn& faulty,
                                                    const Attempt* wrong, const Attempt* best);

/// The kernel to continue from: the best one, or the last where nothing better is known.
[[nodiscard]] const Attempt& anchor_of(const Attempt& last, const Attempt* best);

/// The key of the step that feedback_prompt suggests after an accepted `last` (propose/llm/prompts/next_step.hpp has
/// the rules), for the line that goes into `tried` once its outcome is known. Empty when `last` was not accepted.
[[nodiscard]] std::string suggested_step(const PromptContext& context, const Attempt& last, const Attempt* best);

}  // namespace kw

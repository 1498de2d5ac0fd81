#pragma once
// A second model that reads a kernel with its figures and says what limits it, before the first model is asked to go
// on, as the judge of CudaForge does (arXiv:2511.01884). It writes no kernel. Its words are untrusted: bounded, quoted
// on single lines, and shown as an opinion beside the figures.

#include <optional>
#include <string>
#include <vector>

#include "propose/llm/prompts/prompts.hpp"

namespace kw {

/// What a judge said, each on one line; what it left out is empty.
struct JudgeOpinion {
  std::string bottleneck;
  std::string method;
  std::string plan;
};

/// About the kernel that the next prompt goes on from: a rejected one itself, else the run's best (or `last`).
[[nodiscard]] std::vector<ChatMessage> judge_prompt(const PromptContext& context, const Attempt& last,
                                                    const Attempt* best);

/// Nothing where the answer has none of the three lines.
[[nodiscard]] std::optional<JudgeOpinion> read_judgement(const std::string& answer);

/// For the next prompt: the lines of the judgement that there are.
[[nodiscard]] std::string judgement_text(const JudgeOpinion& judgement);

/// The step that a prompt asks for by it: TriedStep::step of what comes of it.
inline constexpr const char* k_judged_step = "judged";

}  // namespace kw

#pragma once
// Which one step is suggested to a model whose kernel is right. A list of rules, tried in order; the first that applies
// and was not tried yet wins. Every rule looks at something that was measured or reported, and says what it saw; the
// texts are prompts/steps.md. Deliberately no cost model: the model has to be able to check the reason.

#include <string>
#include <vector>

#include "propose/llm/prompts/prompts.hpp"

namespace kw {

struct NextStep {
  std::string key;     ///< section of prompts/steps.md: "spills", "materialised", ...
  std::string detail;  ///< what was seen: "96 bytes per thread"
};

/// Every rule that applies to an accepted kernel, most urgent first; never empty, "inner_loop" always applies.
[[nodiscard]] std::vector<NextStep> applicable_steps(const PromptContext& context, const Attempt& kernel);

/// The step for the kernel to continue from, `best`. A step that was taken before (context.tried) is passed over.
[[nodiscard]] NextStep next_step(const PromptContext& context, const Attempt& best);

}  // namespace kw

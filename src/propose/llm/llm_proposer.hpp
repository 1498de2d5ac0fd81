#pragma once
// The proposer that a language model drives: several chains of requests, each answered by a prompt made from what the
// verifier saw; a bandit divides the requests between the chains. What the device does while models think is the
// business of others (propose/portfolio/).

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "propose/llm/client/chat_service.hpp"
#include "propose/llm/prompts/exemplars.hpp"
#include "propose/llm/prompts/prompts.hpp"
#include "propose/proposer.hpp"
#include "propose/registry.hpp"
#include "record/turn.hpp"

namespace kw {

/// Which model is asked, and how.
struct LlmOptions {
  std::string model;
  std::string judge;  ///< a model at the same server that is asked what limits each kernel; "": none is
  int chains = 1;
  int samples = 1;  ///< requests per round of a chain
  ExemplarChoice exemplars = ExemplarChoice::bucket;
  int exemplar_count = 2;                  ///< CUDA-L1 shows two
  std::optional<std::int64_t> max_tokens;  ///< of one reply
  std::vector<std::string> constraints;    ///< the user's, in words
  bool plan = false;                       ///< the first answer is asked for a plan before the code
  std::optional<std::string> user_prompt;  ///< put first, word for word
  PromptParts parts;
  const PromptTemplates* templates = nullptr;  ///< not owned; null: as shipped
};

/// What the loop lends to a proposer that asks a model.
struct LlmAccess {
  LlmOptions options;
  ChatService* service = nullptr;       ///< outlives the proposer
  std::function<void(Turn)> keep = {};  ///< is given every turn when it ended, in the order replies were taken
};

[[nodiscard]] std::unique_ptr<Proposer> make_llm_proposer(const ProposerContext& context, const LlmAccess& access);

}  // namespace kw

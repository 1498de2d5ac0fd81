#pragma once
// The proposer that a language model drives: several chains of requests, each answered by a prompt made from what the
// verifier saw. While models think, the device tunes the tunables of what they wrote and, in a hybrid run, goes on with
// the built-in search; a bandit divides the device between the two, and another one the requests between the chains.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "propose/llm/chat_service.hpp"
#include "propose/llm/exemplars.hpp"
#include "propose/llm/prompts.hpp"
#include "propose/proposer.hpp"

namespace kw {

struct LlmOptions {
  PromptContext prompt;  ///< what it points to must outlive the proposer; `tried` is the proposer's to fill
  std::string model;
  int chains = 1;
  int samples = 1;  ///< requests per round of a chain
  ExemplarChoice exemplars = ExemplarChoice::bucket;
  int exemplar_count = 2;                   ///< CUDA-L1 shows two
  std::vector<Attempt> past;                ///< verified by earlier runs on this problem and device, for exemplars
  std::optional<std::int64_t> max_tokens;   ///< of one reply
  std::optional<std::int64_t> token_limit;  ///< of the run: replies are asked to keep within what is left
  std::uint64_t seed = 0;
  std::unique_ptr<Proposer> search;  ///< goes on by itself beside the chains; may be null
};

/// `service` must outlive the proposer.
[[nodiscard]] std::unique_ptr<Proposer> make_llm_proposer(LlmOptions options, ChatService& service);

}  // namespace kw

#pragma once
// The model's part of a run: the threads that ask, the replies that are repeated when a run is resumed or replayed, the
// turns that are archived, and the tokens and dollars that count against the budget.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "archive/archive.hpp"
#include "loop/budget.hpp"
#include "loop/chat_pool.hpp"
#include "loop/held_requests.hpp"
#include "loop/recorded_replies.hpp"
#include "propose/llm/client/prices.hpp"
#include "propose/llm/llm_proposer.hpp"

namespace kw {

/// What a run needs to know of its model. Requests go through `client`; without one, only recorded replies are given.
struct ModelSetup {
  Provider provider;
  std::string model;
  std::string judge;   ///< another model there, which is asked about each kernel; "": none
  std::string effort;  ///< as the provider was told; "": nothing was said
  ChatClient* client = nullptr;
  int chains = 1;
  int samples = 1;
  ExemplarChoice exemplars = ExemplarChoice::bucket;
  std::optional<std::int64_t> max_tokens;  ///< of one reply
  std::vector<std::string> constraints;    ///< in words
  bool plan = false;
  std::optional<std::string> user_prompt;
  PromptParts parts;
  PromptTemplates templates;
  PriceTable prices;
  std::string price_source;  ///< "built in, 2025-10-01"
};

/// The record of it, before the first turn.
[[nodiscard]] ModelUse describe_model(const ModelSetup& setup);

class LlmDriver {
 public:
  LlmDriver(const ModelSetup& setup, Instant deadline) : setup_(setup), deadline_(deadline) {}

  /// What the proposer is to ask through. `recorded` are the turns of the run that is resumed or replayed; those of a
  /// resumed one are in the archive already, and what it used of its model before is `use`. Valid while the driver is.
  [[nodiscard]] const LlmAccess& open(std::vector<Turn> recorded, bool resumed, const ModelUse& use);
  /// Archives the turns that ended since the last call, and counts them. Turns that a resume repeats are passed over.
  /// What was kept comes back, for whoever watches. Then the requests that were made since go out, after `run` has them
  /// in the archive.
  [[nodiscard]] Result<std::vector<Turn>> keep_turns(Archive& archive, RunRecord& run, Budget& budget);
  /// Gives up the requests that are out. Those of this part of the run count against the budget: they may be paid for.
  void close(const ModelUse& use, Budget& budget);
  /// As ChatService::wait.
  void wait(Instant until) { replies_->wait(until); }
  [[nodiscard]] const RecordedReplies& replies() const { return *replies_; }

 private:
  [[nodiscard]] Result<void> send_requests(Archive& archive, RunRecord& run);

  const ModelSetup& setup_;
  Instant deadline_;
  std::unique_ptr<ChatPool> pool_;
  std::unique_ptr<HeldRequests> held_;  ///< of the pool; null without one
  std::unique_ptr<RecordedReplies> replies_;
  LlmAccess access_;
  std::vector<Turn> ended_;   ///< not yet archived
  std::size_t archived_ = 0;  ///< turns still to come that are in the archive
  OpenRequests open_before_;  ///< of the parts of a resumed run that ended
};

/// What a reply of `model`, the setup's own or its judge, costs; nothing where the price is not known.
[[nodiscard]] std::optional<double> reply_dollars(const ModelSetup& setup, const std::string& model,
                                                  const TokenUsage& usage);

/// What open requests cost, by the price of their prompts, the higher one where there is a judge; 0 where no price is
/// known.
[[nodiscard]] double open_dollars(const ModelSetup& setup, const OpenRequests& open);

/// Adds a turn to what the run used of its model. `dollars` is absent where the price is unknown.
void count_turn(ModelUse& use, const Turn& turn, std::optional<double> dollars);

}  // namespace kw

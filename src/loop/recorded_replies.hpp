#pragma once
// The replies of a recorded run, given again where that run took them; after them, those of a live service where there
// is one. This is how a killed run is resumed, and how --replay repeats a run without any network.

#include <cstddef>
#include <set>
#include <vector>

#include "propose/llm/client/chat_service.hpp"
#include "record/turn.hpp"

namespace kw {

class RecordedReplies final : public ChatService {
 public:
  /// `turns` in the order they were taken. `live` may be null, and must outlive this.
  RecordedReplies(std::vector<Turn> turns, ChatService* live, int capacity);

  void submit(std::int64_t turn, const ChatRequest& request) override;
  /// Without a live service, a proposer that asks for more than was recorded is told errc::chat_replayed.
  [[nodiscard]] std::optional<ChatOutcome> poll(std::int64_t observed_attempts) override;
  /// A replay whose verdicts differ from the recorded ones may wait where that run did not: the next recorded reply
  /// that was asked for then comes early.
  void wait(Instant until) override;
  [[nodiscard]] int capacity() const override { return capacity_; }

 private:
  [[nodiscard]] ChatOutcome give(std::size_t index);

  std::vector<Turn> turns_;
  std::vector<bool> given_;
  std::set<std::int64_t> recorded_;  ///< ordinals
  std::set<std::int64_t> asked_;     ///< recorded, and not given yet
  std::set<std::int64_t> unknown_;   ///< asked for, and neither recorded nor live
  std::size_t next_ = 0;
  bool early_ = false;
  ChatService* live_;
  int capacity_;
};

}  // namespace kw

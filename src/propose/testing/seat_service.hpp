#pragma once
// For tests: a model whose answers the test gives, one request at a time, without threads.

#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "propose/llm/client/chat_service.hpp"

namespace kw {

/// Requests stay open until the test answers them.
class SeatService final : public ChatService {
 public:
  void submit(std::int64_t turn, const ChatRequest& request) override {
    open.emplace_back(turn, request);
    all.push_back(request);
  }
  std::optional<ChatOutcome> poll(std::int64_t) override {
    if (outcomes_.empty()) return std::nullopt;
    ChatOutcome outcome = std::move(outcomes_.front());
    outcomes_.pop_front();
    return outcome;
  }
  void wait(Instant) override {}
  [[nodiscard]] int capacity() const override { return 8; }

  /// Answers the oldest open request.
  void answer(Result<ChatReply> reply) {
    outcomes_.push_back({open.front().first, std::move(reply)});
    open.pop_front();
  }

  std::deque<std::pair<std::int64_t, ChatRequest>> open;
  std::vector<ChatRequest> all;

 private:
  std::deque<ChatOutcome> outcomes_;
};

}  // namespace kw

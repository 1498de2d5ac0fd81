#pragma once
// Requests to a live model, held back until the loop has written down that they are sent: a run that is killed while a
// request is out still knows of it. The loop releases them.

#include <utility>
#include <vector>

#include "propose/llm/client/chat_service.hpp"

namespace kw {

class HeldRequests final : public ChatService {
 public:
  /// `live` must outlive this.
  explicit HeldRequests(ChatService& live) : live_(live) {}

  /// Keeps the request until release().
  void submit(std::int64_t turn, const ChatRequest& request) override { held_.emplace_back(turn, request); }
  [[nodiscard]] std::optional<ChatOutcome> poll(std::int64_t observed) override { return live_.poll(observed); }
  void wait(Instant until) override { live_.wait(until); }
  [[nodiscard]] int capacity() const override { return live_.capacity(); }

  /// With their turns, in the order they were made.
  [[nodiscard]] const std::vector<std::pair<std::int64_t, ChatRequest>>& held() const { return held_; }
  void release() {
    for (const auto& [turn, request] : std::exchange(held_, {})) live_.submit(turn, request);
  }

 private:
  ChatService& live_;
  std::vector<std::pair<std::int64_t, ChatRequest>> held_;
};

}  // namespace kw

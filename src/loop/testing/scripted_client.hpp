#pragma once
// For tests: a model that answers from a function, in the process.

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "propose/llm/client/chat_client.hpp"

namespace kw {

class ScriptedClient final : public ChatClient {
 public:
  /// `answer` is given the requests one at a time, with the number of those before.
  using Answer = std::function<Result<ChatReply>(const ChatRequest&, int)>;
  explicit ScriptedClient(Answer answer) : answer_(std::move(answer)) {}

  Result<ChatReply> complete(const ChatRequest& request, const ChatLimits&) override {
    const std::lock_guard lock(mutex_);
    requests_.push_back(request);
    return answer_(request, static_cast<int>(requests_.size()) - 1);
  }
  Result<void> reach(const ChatLimits&) override { return reached; }
  [[nodiscard]] std::vector<ChatRequest> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

  Result<void> reached;  ///< what reach() says; set it before the run

 private:
  Answer answer_;
  mutable std::mutex mutex_;
  std::vector<ChatRequest> requests_;
};

[[nodiscard]] inline ChatReply reply_of(std::string text) {
  ChatReply reply;
  reply.text = std::move(text);
  reply.reasoning = "Think about memory first.";
  reply.finish = ChatFinish::stop;
  reply.usage = {100, 50, 20, 0, false};
  return reply;
}

/// A bundle in a fence, as a model writes it.
[[nodiscard]] inline ChatReply reply_with(const std::string& bundle_text) {
  return reply_of("Analysis: slow.\n\n```opencl\n" + bundle_text + "\n```\n");
}

[[nodiscard]] inline std::string prompt_text(const ChatRequest& request) {
  std::string text;
  for (const auto& message : request.messages) text += message.text + "\n";
  return text;
}

}  // namespace kw

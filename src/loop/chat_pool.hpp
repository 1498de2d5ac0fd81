#pragma once
// The threads that ask models: a ChatService over a client whose calls block. Requests wait in line when all threads
// are out; destruction gives up what is in flight and joins.

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "propose/llm/client/chat_client.hpp"
#include "propose/llm/client/chat_service.hpp"

namespace kw {

class ChatPool final : public ChatService {
 public:
  /// `client` must outlive the pool. No request goes on after `deadline`.
  ChatPool(ChatClient& client, int threads, Instant deadline);
  ~ChatPool() override;
  ChatPool(const ChatPool&) = delete;
  ChatPool& operator=(const ChatPool&) = delete;

  void submit(std::int64_t turn, const ChatRequest& request) override;
  [[nodiscard]] std::optional<ChatOutcome> poll(std::int64_t observed_attempts) override;
  void wait(Instant until) override;
  [[nodiscard]] int capacity() const override { return static_cast<int>(threads_.size()); }

 private:
  struct Asked {
    std::int64_t turn = 0;
    ChatRequest request;
  };
  void serve();

  ChatClient& client_;
  const Instant deadline_;
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::condition_variable asked_or_stopped_;
  std::condition_variable answered_;
  std::deque<Asked> waiting_;
  std::deque<ChatOutcome> outcomes_;
  std::vector<std::thread> threads_;
};

}  // namespace kw

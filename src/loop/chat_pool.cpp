#include "loop/chat_pool.hpp"

#include <algorithm>
#include <utility>

namespace kw {
namespace {

/// A signal handler can set a flag and nothing else, so that a waiting loop has to look at it now and then.
constexpr Duration k_moment = std::chrono::milliseconds(50);

}  // namespace

ChatPool::ChatPool(ChatClient& client, int threads, Instant deadline) : client_(client), deadline_(deadline) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { serve(); });
}

ChatPool::~ChatPool() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  asked_or_stopped_.notify_all();
  for (auto& thread : threads_) thread.join();
}

void ChatPool::submit(std::int64_t turn, const ChatRequest& request) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back({turn, request});
  }
  asked_or_stopped_.notify_one();
}

std::optional<ChatOutcome> ChatPool::poll(std::int64_t) {
  const std::lock_guard lock(mutex_);
  if (outcomes_.empty()) return std::nullopt;
  ChatOutcome outcome = std::move(outcomes_.front());
  outcomes_.pop_front();
  return outcome;
}

void ChatPool::wait(Instant until) {
  std::unique_lock lock(mutex_);
  const Instant moment = std::chrono::steady_clock::now() + k_moment;
  answered_.wait_until(lock, std::min(until, moment), [this] { return !outcomes_.empty(); });
}

void ChatPool::serve() {
  while (true) {
    Asked asked;
    {
      std::unique_lock lock(mutex_);
      asked_or_stopped_.wait(lock, [this] { return stop_ || !waiting_.empty(); });
      if (stop_) return;
      asked = std::move(waiting_.front());
      waiting_.pop_front();
    }
    auto reply = client_.complete(asked.request, {deadline_, &stop_});
    {
      const std::lock_guard lock(mutex_);
      outcomes_.push_back({asked.turn, std::move(reply)});
    }
    answered_.notify_all();
  }
}

}  // namespace kw

#pragma once
// What a proposer sees of the models: requests go out, replies come back some time later, in any order. The loop
// implements it with threads (loop/chat_pool.hpp); a replay implements it with recorded replies.

#include <cstdint>
#include <optional>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "record/chat.hpp"

namespace kw {

struct ChatOutcome {
  std::int64_t turn = 0;  ///< as submitted
  Result<ChatReply> reply;
};

class ChatService {
 public:
  virtual ~ChatService() = default;
  /// Returns at once. `turn` is unique in the run.
  virtual void submit(std::int64_t turn, const ChatRequest& request) = 0;
  /// A finished one, each exactly once, or nothing so far. `observed_attempts` is the proposer's place in the run: a
  /// replay gives a reply only where the recorded run took it.
  [[nodiscard]] virtual std::optional<ChatOutcome> poll(std::int64_t observed_attempts) = 0;
  /// Blocks until poll() would give something, or `until`, or for a moment: callers look at what else ends their wait
  /// and call again. For the loop; proposers never wait.
  virtual void wait(Instant until) = 0;
  /// How many requests may be out at once.
  [[nodiscard]] virtual int capacity() const = 0;
};

}  // namespace kw

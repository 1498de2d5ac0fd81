#pragma once
// Talks to one model behind one URL. complete() blocks; several threads may call it at once, each on its own
// connection. Retries (408, 409, 429, 5xx, broken connections) happen inside, within the deadline. The client creates
// no threads and reads no files after it was made.

#include <atomic>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "record/chat.hpp"

namespace kw {

/// When complete() must return, whatever the server does: to the second.
struct ChatLimits {
  Instant deadline = Instant::max();
  const std::atomic<bool>* stop = nullptr;  ///< set by another thread: give up at once
};

class ChatClient {
 public:
  virtual ~ChatClient() = default;
  /// Errors: the codes chat.* of chat_errors.hpp; their messages never contain a key or more than an excerpt of what
  /// the server said.
  [[nodiscard]] virtual Result<ChatReply> complete(const ChatRequest& request, const ChatLimits& limits) = 0;
  /// Whether a server is there at all: connects once and asks nothing, so that nothing is paid and no key is sent.
  /// errc::chat_connection and errc::chat_timeout name the server and what to try; the rest as complete().
  [[nodiscard]] virtual Result<void> reach(const ChatLimits& limits) = 0;
};

}  // namespace kw

#pragma once
// The worker's end of the socket: whole messages, waited for as long as the host lives.

#include <optional>

#include "protocol/messages.hpp"
#include "sandbox/frame_channel.hpp"

namespace kw {

class Channel {
 public:
  /// Takes over the descriptor.
  explicit Channel(int socket) : socket_(socket), frames_(UniqueFd(socket), k_max_frame_bytes) {}

  /// The next message; nothing when the host has gone or sent what cannot be a message. The worker then ends.
  [[nodiscard]] std::optional<HostMessage> receive();
  /// False when the host has gone.
  [[nodiscard]] bool send(const WorkerMessage& message);
  [[nodiscard]] int socket() const { return socket_; }

 private:
  int socket_;
  FrameChannel frames_;
};

}  // namespace kw

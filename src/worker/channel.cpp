#include "worker/channel.hpp"

#include <string>

namespace kw {
// The host ends the wait by closing the socket or by SIGKILL; until then a worker in reserve may wait for hours.
std::optional<HostMessage> Channel::receive() {
  std::string payload;
  if (frames_.receive(payload, FrameChannel::k_for_ever) != FrameChannel::Received::frame) return std::nullopt;
  auto message = decode_host_message(payload);
  if (!message) return std::nullopt;
  return *std::move(message);
}

bool Channel::send(const WorkerMessage& message) {
  const std::string payload = encode(message);
  if (static_cast<std::int64_t>(payload.size()) > k_max_frame_bytes) {
    return send(LaunchFailure{fmt::format("an answer of {} bytes is larger than a frame may be", payload.size())});
  }
  return frames_.send(payload, FrameChannel::k_for_ever);
}

}  // namespace kw

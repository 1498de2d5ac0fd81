#pragma once
// One end of the stream socket between host and worker: frames of a 4-byte little-endian length and a payload. Both
// sides use it. The other end may be hostile: it can send half a frame, announce a huge one, or stop reading; none of
// that blocks longer than the deadline or allocates more than has arrived.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/unique_fd.hpp"

namespace kw {

class FrameChannel {
 public:
  enum class Received : std::uint8_t { frame, closed, timed_out, oversized };

  explicit FrameChannel(UniqueFd socket, std::int64_t max_frame_bytes = std::int64_t{64} << 20);

  /// For as long as the other end lives. Waiting is then left to the socket itself, so that a process without the
  /// calls that wait for a time can use the channel.
  static constexpr Duration k_for_ever = Duration::max();

  /// False when the other end is gone, or has not read for `deadline`; the channel is then closed, because half a frame
  /// may be on its way.
  [[nodiscard]] bool send(std::string_view payload, Duration deadline);
  /// Waits for one frame. After timed_out what has arrived is kept, and the next call goes on from there. After
  /// oversized the channel is closed: the boundary of the next frame can't be trusted.
  [[nodiscard]] Received receive(std::string& payload, Duration deadline);
  void close() { socket_.reset(); }
  /// Nothing more is sent, which the other end sees; what it sends still arrives.
  void hang_up() const;

 private:
  enum class Arrival : std::uint8_t { some, closed, timed_out };
  Arrival read_some(std::size_t wanted_bytes, Instant until);

  UniqueFd socket_;
  std::int64_t max_frame_bytes_;
  std::string arrived_;  ///< the part of the current frame that is here, length included
};

}  // namespace kw

#include "sandbox/frame_channel.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace kw {
namespace {

constexpr std::size_t k_header_bytes = 4;
constexpr std::size_t k_read_bytes = std::size_t{1} << 20;

// Far deadlines ("forever") must not overflow the clock.
Instant until_from(Duration deadline) {
  if (deadline == FrameChannel::k_for_ever) return Instant::max();
  constexpr Duration k_longest = std::chrono::hours{24 * 365};
  return std::chrono::steady_clock::now() + std::clamp(deadline, Duration::zero(), k_longest);
}

// True when the socket is ready, or has an error or hang-up to report, before `until`.
bool wait_for(int fd, short events, Instant until) {
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count() + 1;
    pollfd entry{.fd = fd, .events = events, .revents = 0};
    const int ready = ::poll(&entry, 1, static_cast<int>(std::clamp<long long>(left, 0, 1'000'000'000)));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
    if (std::chrono::steady_clock::now() >= until) return false;
  }
}

/// The socket waits itself where nothing ends the wait.
int flags_of_waiting(Instant until) {
  return until == Instant::max() ? 0 : MSG_DONTWAIT;
}

std::uint32_t length_of(const std::string& header) {
  std::uint32_t length = 0;
  for (std::size_t i = k_header_bytes; i-- > 0;) length = (length << 8) | static_cast<unsigned char>(header[i]);
  return length;
}

}  // namespace

FrameChannel::FrameChannel(UniqueFd socket, std::int64_t max_frame_bytes)
    : socket_(std::move(socket)), max_frame_bytes_(max_frame_bytes) {}

void FrameChannel::hang_up() const {
  // A socket whose other end is gone has nobody left to tell.
  if (socket_.valid()) ::shutdown(socket_.get(), SHUT_WR);
}

bool FrameChannel::send(std::string_view payload, Duration deadline) {
  if (!socket_.valid() || std::cmp_greater(payload.size(), max_frame_bytes_)) return false;
  const Instant until = until_from(deadline);
  const int waiting = flags_of_waiting(until);
  std::array<char, k_header_bytes> header{};
  for (std::size_t i = 0; i < k_header_bytes; ++i) header[i] = static_cast<char>((payload.size() >> (8 * i)) & 0xff);
  for (std::string_view part : {std::string_view(header.data(), header.size()), payload}) {
    while (!part.empty()) {
      const ssize_t sent = ::send(socket_.get(), part.data(), part.size(), MSG_NOSIGNAL | waiting);
      if (sent > 0) {
        part.remove_prefix(static_cast<std::size_t>(sent));
        continue;
      }
      const bool full = sent < 0 && (errno == EAGAIN || errno == EINTR);
      if (!full || (waiting != 0 && !wait_for(socket_.get(), POLLOUT, until))) {
        close();
        return false;
      }
    }
  }
  return true;
}

FrameChannel::Arrival FrameChannel::read_some(std::size_t wanted_bytes, Instant until) {
  const int waiting = flags_of_waiting(until);
  for (;;) {
    const std::size_t before = arrived_.size();
    const std::size_t room = std::min(wanted_bytes, k_read_bytes);
    arrived_.resize(before + room);
    const ssize_t got = ::recv(socket_.get(), arrived_.data() + before, room, waiting);
    const int error = errno;
    arrived_.resize(before + (got > 0 ? static_cast<std::size_t>(got) : 0));
    if (got > 0) return Arrival::some;
    if (got == 0 || (error != EAGAIN && error != EINTR)) return Arrival::closed;
    if (waiting != 0 && !wait_for(socket_.get(), POLLIN, until)) return Arrival::timed_out;
  }
}

FrameChannel::Received FrameChannel::receive(std::string& payload, Duration deadline) {
  if (!socket_.valid()) return Received::closed;
  const Instant until = until_from(deadline);
  for (;;) {
    std::size_t wanted = k_header_bytes;
    if (arrived_.size() >= k_header_bytes) {
      const std::uint32_t length = length_of(arrived_);
      if (std::cmp_greater(length, max_frame_bytes_)) {
        close();
        return Received::oversized;
      }
      wanted += length;
      if (arrived_.size() == wanted) break;
    }
    switch (read_some(wanted - arrived_.size(), until)) {
      case Arrival::some:
        // A sender that dribbles a byte at a time never makes recv wait, so the clock is looked at here too.
        if (arrived_.size() < wanted && std::chrono::steady_clock::now() >= until) return Received::timed_out;
        break;
      case Arrival::closed:
        return Received::closed;
      case Arrival::timed_out:
        return Received::timed_out;
    }
  }
  payload = arrived_.substr(k_header_bytes);
  arrived_.clear();
  return Received::frame;
}

}  // namespace kw

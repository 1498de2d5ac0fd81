#pragma once
// For tests: a server on 127.0.0.1 that says exactly the bytes a test tells it to, one connection after the other, in a
// thread of its own. It ends with the object, whatever its clients do.

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <thread>

#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace kw {

class LoopbackConnection {
 public:
  LoopbackConnection(UniqueFd fd, int stop) : fd_(std::move(fd)), stop_(stop) {}

  [[nodiscard]] int fd() const { return fd_.get(); }

  /// Head and body of one request; less when the client went away or speaks TLS.
  std::string read_request() {
    std::string text;
    std::array<char, 4096> buffer{};
    while (!is_whole(text) && wait_readable(std::chrono::seconds(20))) {
      const auto got = ::recv(fd_.get(), buffer.data(), buffer.size(), 0);
      if (got <= 0) break;
      text.append(buffer.data(), static_cast<std::size_t>(got));
    }
    return text;
  }
  /// False when the client has gone.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto sent = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  void wait_for_client_to_leave() {
    std::array<char, 4096> buffer{};
    while (wait_readable(std::chrono::seconds(20)) && ::recv(fd_.get(), buffer.data(), buffer.size(), 0) > 0) {
    }
  }
  /// `piece` again and again, at this pace, until the client leaves.
  void trickle(std::string_view piece, std::chrono::milliseconds pace) {
    while (!wait_readable(pace) && !stopping_ && send(piece)) {
    }
  }
  /// An RST instead of an orderly end.
  void reset() {
    const linger at_once{1, 0};
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    fd_.reset();
  }

 private:
  static bool is_whole(const std::string& text) {
    if (!text.empty() && text.front() == '\x16') return true;  // TLS
    const std::size_t head = text.find("\r\n\r\n");
    if (head == std::string::npos) return false;
    constexpr std::string_view k_length = "\r\nContent-Length: ";
    const std::size_t length = text.find(k_length);
    const int body = length == std::string::npos ? 0 : std::atoi(text.c_str() + length + k_length.size());
    return text.size() >= head + 4 + static_cast<std::size_t>(body);
  }
  bool wait_readable(std::chrono::milliseconds most) {
    std::array<pollfd, 2> both = {pollfd{fd_.get(), POLLIN, 0}, pollfd{stop_, POLLIN, 0}};
    const int ready = ::poll(both.data(), both.size(), static_cast<int>(most.count()));
    stopping_ = both[1].revents != 0;
    return ready > 0 && !stopping_;
  }

  UniqueFd fd_;
  int stop_;
  bool stopping_ = false;
};

class LoopbackServer {
 public:
  /// Called for each connection with its number, from 0. The connection is closed when it returns.
  using Handler = std::function<void(LoopbackConnection&, int)>;

  explicit LoopbackServer(Handler handler)
      : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)), stop_(::eventfd(0, EFD_CLOEXEC)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    KW_CHECK(::bind(listener_.get(), any, length) == 0 && ::listen(listener_.get(), 8) == 0);
    KW_CHECK(::getsockname(listener_.get(), any, &length) == 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this, call = std::move(handler)] { serve(call); });
  }
  LoopbackServer(const LoopbackServer&) = delete;
  LoopbackServer& operator=(const LoopbackServer&) = delete;
  ~LoopbackServer() {
    const std::uint64_t one = 1;
    KW_CHECK(::write(stop_.get(), &one, sizeof one) == sizeof one);
    thread_.join();
  }

  [[nodiscard]] int port() const { return port_; }

 private:
  void serve(const Handler& handler) {
    for (int index = 0;; ++index) {
      std::array<pollfd, 2> both = {pollfd{listener_.get(), POLLIN, 0}, pollfd{stop_.get(), POLLIN, 0}};
      if (::poll(both.data(), both.size(), -1) < 0 || both[1].revents != 0) return;
      UniqueFd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!fd.valid()) return;
      const int on = 1;
      ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      LoopbackConnection connection(std::move(fd), stop_.get());
      handler(connection, index);
    }
  }

  UniqueFd listener_;
  UniqueFd stop_;
  int port_ = 0;
  std::thread thread_;
};

/// A whole answer with its length.
inline std::string http_answer(int status, std::string_view type, std::string_view body,
                               std::string_view headers = {}) {
  return fmt::format("HTTP/1.1 {} Said\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n{}\r\n{}",
                     status, type, body.size(), headers, body);
}
/// The head of a stream that ends with the connection.
inline constexpr std::string_view k_event_head =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nConnection: close\r\n\r\n";

}  // namespace kw

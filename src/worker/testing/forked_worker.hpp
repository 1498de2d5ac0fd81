#pragma once
// For tests: a worker's service in a process of its own, without the sandbox around it, and the host's end of its
// socket. What is left open when the object goes is closed, and the process is waited for.

#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <functional>
#include <optional>
#include <string>
#include <variant>

#include "protocol/messages.hpp"
#include "sandbox/frame_channel.hpp"
#include "worker/channel.hpp"

namespace kw {

/// Long enough for a machine that is busy; no test waits for it to pass.
inline constexpr Duration k_host_timeout = std::chrono::minutes(5);

class ForkedWorker {
 public:
  /// `serve` gets the worker's socket and the descriptor of an arena of `arena_bytes`, and need not return.
  ForkedWorker(const std::function<void(int, int)>& serve, std::int64_t arena_bytes)
      : arena_(::memfd_create("arena", MFD_CLOEXEC)) {
    std::array<int, 2> ends{};
    KW_CHECK(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
    KW_CHECK(::ftruncate(arena_.get(), arena_bytes) == 0);
    child_ = ::fork();
    KW_CHECK(child_ >= 0);
    if (child_ == 0) {
      ::close(ends[0]);
      // A sanitizer would make an exit status of what has to end the process.
      for (const int signal : {SIGSEGV, SIGABRT}) std::signal(signal, SIG_DFL);
      serve(ends[1], arena_.get());
      ::_exit(99);  // a service that came back
    }
    ::close(ends[1]);
    host_ = FrameChannel(UniqueFd(ends[0]));
  }
  ForkedWorker(const ForkedWorker&) = delete;
  ForkedWorker& operator=(const ForkedWorker&) = delete;
  ~ForkedWorker() { finish(); }

  /// The answer; nothing when the worker has gone instead.
  std::optional<WorkerMessage> ask(const HostMessage& request) { return exchange(encode(request)); }
  std::optional<WorkerMessage> exchange(const std::string& payload) {
    std::string answer;
    if (!host_.send(payload, k_host_timeout)) return std::nullopt;
    if (host_.receive(answer, k_host_timeout) != FrameChannel::Received::frame) return std::nullopt;
    auto message = decode_worker_message(answer);
    if (!message) return std::nullopt;
    return *std::move(message);
  }
  /// The words of a LaunchFailure; another answer in words of its own.
  std::string failure_of(const HostMessage& request) {
    const auto answer = ask(request);
    if (!answer) return "(no answer)";
    const auto* failure = std::get_if<LaunchFailure>(&*answer);
    return failure == nullptr ? "(no failure)" : failure->what;
  }

  /// As waitpid() tells it, after the host's end was closed; once.
  int finish() {
    if (child_ <= 0) return status_;
    host_.close();
    ::waitpid(child_, &status_, 0);
    child_ = 0;
    return status_;
  }
  [[nodiscard]] struct stat arena_file() const {
    struct stat file = {};
    KW_CHECK(::fstat(arena_.get(), &file) == 0);
    return file;
  }
  /// What the arena holds at `offset`.
  [[nodiscard]] std::byte arena_byte(std::int64_t offset) const {
    std::byte value{};
    KW_CHECK(::pread(arena_.get(), &value, 1, offset) == 1);
    return value;
  }

 private:
  UniqueFd arena_;
  FrameChannel host_{UniqueFd()};
  pid_t child_ = 0;
  int status_ = 0;
};

}  // namespace kw

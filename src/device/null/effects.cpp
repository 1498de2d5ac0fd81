#include "device/null/effects.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <vector>

#include "base/unique_fd.hpp"

namespace kw::null_effects {
namespace {

constexpr int k_socket = 3;

std::string reason(const std::string& doing) {
  return fmt::format("{}: {}", doing, std::strerror(errno));
}

}  // namespace

void hang() {
  std::atomic<std::uint64_t> turns = 0;
  for (;;) ++turns;
}

void sleep_until_killed() {
  for (;;) ::pause();
}

void crash() {
  ::raise(SIGSEGV);
  ::_exit(1);  // only when the signal is blocked
}

void spin(std::int64_t microseconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(microseconds);
  while (std::chrono::steady_clock::now() < end) {
  }
}

std::optional<std::string> allocate(std::int64_t bytes) {
  // The worker's new-handler ends the process when this is refused; touching the pages is what a cgroup notices.
  std::vector<std::byte> memory(static_cast<std::size_t>(bytes), std::byte{1});
  std::atomic_signal_fence(std::memory_order_seq_cst);
  return memory.back() == std::byte{1} ? std::nullopt : std::optional<std::string>("memory does not hold its values");
}

std::optional<std::string> fork_children(std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    const pid_t child = ::fork();
    if (child == 0) sleep_until_killed();
    if (child < 0) return reason(fmt::format("fork number {}", i + 1));
  }
  return std::nullopt;
}

std::optional<std::string> execute(const std::string& path) {
  ::execl(path.c_str(), path.c_str(), static_cast<char*>(nullptr));
  return reason("exec " + path);
}

std::optional<std::string> write_file(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  if (!file.valid()) return reason("write " + path);
  return std::nullopt;
}

std::optional<std::string> send_garbage() {
  constexpr std::string_view k_frame("\x05\0\0\0\xffjunk", 9);
  if (::write(k_socket, k_frame.data(), k_frame.size()) < 0) return reason("write to the host");
  return std::nullopt;
}

}  // namespace kw::null_effects

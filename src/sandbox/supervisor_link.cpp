#include "sandbox/supervisor_link.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "sandbox/sandbox.hpp"
#include "sandbox/start_supervisor.hpp"

namespace kw {
namespace {

// Starting and killing take milliseconds. These bound a machine that swaps, and a driver that holds a process in the
// kernel; past them the host goes on without it.
constexpr Duration k_start_deadline = std::chrono::seconds(20);
constexpr Duration k_end_deadline = std::chrono::seconds(10);
constexpr Duration k_reap_deadline = std::chrono::seconds(2);

Instant in(Duration duration) {
  return std::chrono::steady_clock::now() + duration;
}

bool wait_readable(int fd, Instant until) {
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count() + 1;
    pollfd entry{fd, POLLIN, 0};
    const int ready = ::poll(&entry, 1, static_cast<int>(std::max<long long>(left, 0)));
    if (ready > 0) return true;
    if (ready == 0 || errno != EINTR) return false;
  }
}

}  // namespace

SupervisorLink::SupervisorLink(UniqueFd control, UniqueFd supervisor)
    : control_(std::move(control)), supervisor_fd_(std::move(supervisor)) {}

SupervisorLink::~SupervisorLink() {
  if (!control_.valid()) return;
  end();
  release();
}

Result<SupervisorLink> SupervisorLink::start(const ChildPlan& plan, bool& refused) {
  refused = false;
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return fail(errc::sandbox_failed, "cannot create a socket pair: {}", std::strerror(errno));
  }
  UniqueFd host_end(ends[0]);
  UniqueFd supervisor_end(ends[1]);
  const int yes = 1;
  ::setsockopt(host_end.get(), SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes);
  KW_TRY(StartedSupervisor started, start_supervisor(plan, supervisor_end.get()));
  if (!started.handle.valid()) {
    refused = plan.namespaces;
    return fail(errc::sandbox_failed, "cannot start a process: {}", std::strerror(started.error));
  }
  supervisor_end.reset();
  SupervisorLink link(std::move(host_end), std::move(started.handle));
  KW_TRY_VOID(link.wait_until_started(refused));
  return link;
}

Result<void> SupervisorLink::wait_until_started(bool& refused) {
  const Instant until = in(k_start_deadline);
  for (;;) {
    const auto message = hear(until);
    if (!message) return fail(errc::sandbox_failed, "the sandboxed process did not start");
    if (message->kind == SupervisorMessage::Kind::started) return {};
    if (message->kind == SupervisorMessage::Kind::failed) {
      refused = message->step == LaunchStep::user_map;
      return fail(errc::sandbox_failed, "{} was refused: {}", to_string(message->step), std::strerror(message->value));
    }
  }
}

// The kernel attaches the sender's process id, translated to the host's numbering; the supervisor attaches a directory.
void SupervisorLink::take_attachments(SupervisorMessage::Kind kind, const msghdr& header) {
  msghdr whole = header;
  for (cmsghdr* part = CMSG_FIRSTHDR(&whole); part != nullptr; part = CMSG_NXTHDR(&whole, part)) {
    if (part->cmsg_type == SCM_CREDENTIALS && kind == SupervisorMessage::Kind::here) {
      ucred sender{};
      std::memcpy(&sender, CMSG_DATA(part), sizeof sender);
      program_ = sender.pid;
    } else if (part->cmsg_type == SCM_RIGHTS) {
      int directory = -1;
      std::memcpy(&directory, CMSG_DATA(part), sizeof directory);
      private_directory_ = UniqueFd(directory);
    }
  }
}

// The next message, or nothing when the supervisor is gone or silent.
std::optional<SupervisorMessage> SupervisorLink::hear(Instant until) {
  for (;;) {
    if (!wait_readable(control_.get(), until)) return std::nullopt;
    SupervisorMessage message;
    iovec place{&message, sizeof message};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(ucred)) + CMSG_SPACE(sizeof(int))> extra{};
    msghdr header{};
    header.msg_iov = &place;
    header.msg_iovlen = 1;
    header.msg_control = extra.data();
    header.msg_controllen = extra.size();
    const ssize_t got = ::recvmsg(control_.get(), &header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    // ECONNRESET: the supervisor ended before it read our last byte. It is told once; what the supervisor said is still
    // there.
    if (got < 0 && (errno == EINTR || errno == EAGAIN || errno == ECONNRESET)) continue;
    if (got != static_cast<ssize_t>(sizeof message)) return std::nullopt;
    take_attachments(message.kind, header);
    return message;
  }
}

void SupervisorLink::order(char what) const {
  // A supervisor that is gone needs no orders.
  [[maybe_unused]] const ssize_t sent = ::send(control_.get(), &what, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

int SupervisorLink::end() {
  if (wait_status_) return *wait_status_;
  order(k_order_kill);
  const Instant until = in(k_end_deadline);
  while (const auto message = hear(until)) {
    if (message->kind == SupervisorMessage::Kind::ended) {
      wait_status_ = message->value;
      break;
    }
  }
  if (!wait_status_) {
    ::syscall(SYS_pidfd_send_signal, supervisor_fd_.get(), SIGKILL, nullptr, 0);
    wait_status_ = SIGKILL;
  }
  return *wait_status_;
}

bool SupervisorLink::wait(Duration deadline) {
  const Instant until = in(deadline);
  while (!wait_status_) {
    const auto message = hear(until);
    if (!message) return false;
    if (message->kind == SupervisorMessage::Kind::ended) wait_status_ = message->value;
  }
  return true;
}

void SupervisorLink::release() {
  if (!control_.valid()) return;
  order(k_order_release);
  control_.reset();
  // A pidfd is readable once its process has ended.
  if (!wait_readable(supervisor_fd_.get(), in(k_reap_deadline))) return;
  siginfo_t ignored{};
  while (::waitid(P_PIDFD, static_cast<id_t>(supervisor_fd_.get()), &ignored, WEXITED | __WALL) < 0 && errno == EINTR) {
  }
}

}  // namespace kw

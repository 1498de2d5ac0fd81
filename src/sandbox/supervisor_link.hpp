#pragma once
// The host's end of the supervisor: starts it, hears from it, has it end everything. Internal to the sandbox.

#include <sys/socket.h>
#include <sys/types.h>

#include <optional>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "sandbox/child_plan.hpp"

namespace kw {

class SupervisorLink {
 public:
  /// Starts the supervisor and waits until the program runs. errc::sandbox_failed names the step that failed; `refused`
  /// is then set when it was clone or the user map, so that a plan without namespaces may work.
  [[nodiscard]] static Result<SupervisorLink> start(const ChildPlan& plan, bool& refused);
  SupervisorLink(SupervisorLink&&) = default;
  SupervisorLink& operator=(SupervisorLink&&) = delete;
  ~SupervisorLink();

  /// Kills the program and everything below it, and returns the program's wait status; 9 (SIGKILL) when the supervisor
  /// did not answer. Idempotent.
  int end();
  /// Whether the program has ended by itself before `deadline` was over; end() then tells how.
  [[nodiscard]] bool wait(Duration deadline);
  /// After end(): lets the supervisor go, and reaps it. Idempotent.
  void release();
  [[nodiscard]] pid_t program() const { return program_; }
  /// A handle to the private directory as the program sees it.
  [[nodiscard]] int private_directory() const { return private_directory_.get(); }

 private:
  SupervisorLink(UniqueFd control, UniqueFd supervisor);
  [[nodiscard]] Result<void> wait_until_started(bool& refused);
  std::optional<SupervisorMessage> hear(Instant until);
  void order(char what) const;
  void take_attachments(SupervisorMessage::Kind kind, const msghdr& header);

  UniqueFd control_;
  /// The process itself: after execve a SIGCHLD handler or a waitpid(-1) elsewhere in the host may reap it, and its
  /// number be another's.
  UniqueFd supervisor_fd_;
  pid_t program_ = -1;
  UniqueFd private_directory_;
  std::optional<int> wait_status_;
};

}  // namespace kw

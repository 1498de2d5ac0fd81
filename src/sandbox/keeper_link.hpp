#pragma once
// The host's end of the keeper: starts it, hears from it, has it end everything. Internal to the sandbox.

#include <sys/socket.h>
#include <sys/types.h>

#include <optional>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "sandbox/child_plan.hpp"

namespace kw {

class KeeperLink {
 public:
  /// Clones the keeper, with namespaces if `flags` says so, and waits until the program runs. errc::sandbox_failed
  /// names the step that failed; `refused` is then set when it was clone or the user map, so that fewer namespaces may
  /// work.
  [[nodiscard]] static Result<KeeperLink> start(const ChildPlan& plan, std::uint64_t namespace_flags, bool& refused);
  KeeperLink(KeeperLink&&) = default;
  KeeperLink& operator=(KeeperLink&&) = delete;
  ~KeeperLink();

  /// Kills the program and everything below it, and returns the program's wait status; 9 (SIGKILL) when the keeper did
  /// not answer. Idempotent.
  int end();
  /// Whether the program has ended by itself before `deadline` was over; end() then tells how.
  [[nodiscard]] bool wait(Duration deadline);
  /// After end(): lets the keeper go, and reaps it. Idempotent.
  void release();
  [[nodiscard]] pid_t program() const { return program_; }
  /// A handle to the private directory as the program sees it.
  [[nodiscard]] int private_directory() const { return private_directory_.get(); }

 private:
  KeeperLink(UniqueFd control, UniqueFd keeper_fd, pid_t keeper);
  [[nodiscard]] Result<void> wait_until_started(bool& refused);
  std::optional<KeeperMessage> hear(Instant until);
  void order(char what) const;
  void take_attachments(KeeperMessage::Kind kind, const msghdr& header);

  UniqueFd control_;
  UniqueFd keeper_fd_;
  pid_t keeper_ = -1;
  pid_t program_ = -1;
  UniqueFd private_directory_;
  std::optional<int> wait_status_;
};

}  // namespace kw

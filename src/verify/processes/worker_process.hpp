#pragma once
// One sandboxed worker and the questions it is asked. Tells how it was lost when it does not answer.

#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "protocol/messages.hpp"
#include "sandbox/sandbox.hpp"
#include "verify/processes/execution_backend.hpp"

namespace kw {

class WorkerProcess {
 public:
  [[nodiscard]] static Result<WorkerProcess> spawn(const SandboxSpec& spec);

  /// Sends and waits for the answer, no longer than the deadline. After LostWorker the process is dead, and every later
  /// call gives the same answer.
  [[nodiscard]] std::variant<WorkerMessage, LostWorker> request(const HostMessage& message, AnswerDeadline deadline);
  /// Its standard output and error so far; untrusted text.
  [[nodiscard]] std::string output() const { return process_->output(); }
  /// Lets it end by itself; its exit status, or nothing when it was killed, then or before. Requests nothing more.
  [[nodiscard]] std::optional<int> finish(Duration deadline);
  /// Kills it with everything it started, and waits for that. Requests nothing more.
  void end() { process_.reset(); }
  /// A file of its private directory, the first k_kept_output_bytes of it; "" when there is none. Untrusted text.
  [[nodiscard]] std::string file(const std::string& name) const;

 private:
  explicit WorkerProcess(std::unique_ptr<SandboxedProcess> process) : process_(std::move(process)) {}
  /// What came into `frame`; LostWorker where nothing did.
  std::optional<LostWorker> wait_for_answer(std::string& frame, AnswerDeadline deadline);
  LostWorker lose(WorkerLoss how, std::string detail);
  [[nodiscard]] bool compiler_lacked_memory(const ExitReport& end) const;
  LostWorker lose_closed();
  [[nodiscard]] std::string last_words() const;

  std::unique_ptr<SandboxedProcess> process_;
  std::optional<LostWorker> lost_;
};

}  // namespace kw

#include "verify/processes/worker_process.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "base/unique_fd.hpp"

namespace kw {
namespace {

constexpr std::size_t k_last_words_chars = 200;

/// The last line with anything in it. Written by untrusted code, so only printable characters stay.
std::string last_line(const std::string& output) {
  std::string line;
  std::string current;
  for (const char c : output + "\n") {
    if (c == '\n' && !current.empty()) line = std::exchange(current, {});
    if (c >= ' ' && c <= '~' && current.size() < k_last_words_chars) current += c;
  }
  return line;
}

}  // namespace

Result<WorkerProcess> WorkerProcess::spawn(const SandboxSpec& spec) {
  KW_TRY(std::unique_ptr<SandboxedProcess> process, spawn_sandboxed(spec));
  return WorkerProcess(std::move(process));
}

std::string WorkerProcess::last_words() const {
  const std::string line = last_line(process_->output());
  return line.empty() ? "" : fmt::format("; its last output was \"{}\"", line);
}

LostWorker WorkerProcess::lose(WorkerLoss how, std::string detail) {
  process_->kill();
  lost_ = LostWorker{how, std::move(detail) + last_words()};
  return *lost_;
}

/// A compiler that is a library ends the process itself where it gets no memory, without asking what was set for that.
bool WorkerProcess::compiler_lacked_memory(const ExitReport& end) const {
  return end.signalled && end.code == SIGABRT &&
         process_->output().find("LLVM ERROR: out of memory") != std::string::npos;
}

LostWorker WorkerProcess::lose_closed() {
  const ExitReport end = process_->kill();
  if (end.out_of_memory || (!end.signalled && end.code == k_exit_out_of_memory) || compiler_lacked_memory(end)) {
    return lose(WorkerLoss::out_of_memory, "asked for more memory than the sandbox grants");
  }
  // Whoever closes the socket and lives on dies by the kill above.
  if (end.signalled && end.code == SIGKILL) return lose(WorkerLoss::crashed, "closed its connection, or was killed");
  return lose(WorkerLoss::crashed, end.to_string());
}

std::optional<int> WorkerProcess::finish(Duration deadline) {
  const auto end = process_->finish(deadline);
  if (!end) process_->kill();
  lost_ = LostWorker{WorkerLoss::crashed, "it was asked to end"};
  return end && !end->signalled ? std::optional(end->code) : std::nullopt;
}

std::string WorkerProcess::file(const std::string& name) const {
  // The process may have put anything under that name: a link, a pipe that nobody writes to.
  const std::string path = process_->private_directory() / name;
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status = {};
  if (!file.valid() || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  std::string text(static_cast<std::size_t>(k_kept_output_bytes), '\0');
  const ssize_t got = ::pread(file.get(), text.data(), text.size(), 0);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

std::optional<LostWorker> WorkerProcess::wait_for_answer(std::string& frame, AnswerDeadline deadline) {
  // Shorter waits would only look at the processes more often.
  constexpr Duration k_least_wait = std::chrono::milliseconds(100);
  const SteadyClock clock;
  const Instant began = clock.now();
  const bool patient = deadline.wall > deadline.processor;
  const Duration before = patient ? process_->processor_time().value_or(Duration::zero()) : Duration::zero();
  Duration wait = std::min(deadline.processor, deadline.wall);
  for (;;) {
    switch (process_->receive(frame, wait)) {
      case SandboxedProcess::Received::frame:
        return std::nullopt;
      case SandboxedProcess::Received::closed:
        return lose_closed();
      case SandboxedProcess::Received::oversized:
        return lose(WorkerLoss::crashed, "announced an answer larger than a frame may be; killed");
      case SandboxedProcess::Received::timed_out:
        break;
    }
    if (!patient) {
      return lose(WorkerLoss::timed_out, fmt::format("no answer within {:.3g} s; killed", to_seconds(deadline.wall)));
    }
    const Duration waited = clock.now() - began;
    const Duration had = process_->processor_time().value_or(before) - before;
    if (had >= deadline.processor) {
      return lose(WorkerLoss::timed_out,
                  fmt::format("no answer after {:.3g} s of processor time; killed", to_seconds(had)));
    }
    if (waited >= deadline.wall) {
      return lose(WorkerLoss::starved, fmt::format("no answer within {:.3g} s, in which it had {:.3g} s of processor "
                                                   "time; killed",
                                                   to_seconds(waited), to_seconds(had)));
    }
    wait = std::min(std::max(deadline.processor - had, k_least_wait), deadline.wall - waited);
  }
}

std::variant<WorkerMessage, LostWorker> WorkerProcess::request(const HostMessage& message, AnswerDeadline deadline) {
  if (lost_) return *lost_;
  std::string frame = encode(message);
  if (!process_->send(frame)) return lose_closed();
  if (auto lost = wait_for_answer(frame, deadline)) return *std::move(lost);
  auto reply = decode_worker_message(frame);
  if (!reply) return lose(WorkerLoss::crashed, reply.error().message + "; killed");
  return *std::move(reply);
}

}  // namespace kw

#pragma once
// The build processes of a backend, as many as ever built at once, and what earlier runs have built. For
// ProcessBackend.

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "verify/processes/build_cache.hpp"
#include "verify/processes/worker_process.hpp"

namespace kw {

class Builders {
 public:
  /// Processes are started by `spec`, and compile by the device `compiler`. `first` is one that is there already.
  /// `cache`: null keeps nothing.
  Builders(SandboxSpec spec, std::string compiler, std::optional<WorkerProcess> first,
           std::unique_ptr<BuildCache> cache);

  /// As ExecutionBackend::build.
  std::variant<BuildReply, LostWorker> build(const BuildRequest& request, AnswerDeadline deadline, SourceOrigin origin);
  /// A source of this program's own, in a new process.
  std::variant<BuildReply, LostWorker> build_apart(const BuildRequest& request, AnswerDeadline deadline);
  /// These cannot be loaded: whoever built them may have been made to say that they can.
  void distrust(std::span<const std::string> binaries);
  /// How many builds were not made again.
  [[nodiscard]] std::int64_t found() const { return cache_ ? cache_->found() : 0; }

 private:
  /// Once a foreign source has come into a process, what it says of own ones is not kept: a compiler with a bug may
  /// have been taken over.
  struct Builder {
    WorkerProcess process;
    bool read_foreign = false;
  };

  [[nodiscard]] BuildRequest to_compiler(BuildRequest request) const;
  [[nodiscard]] std::optional<BuildReply> kept(const BuildRequest& bound);
  std::optional<Builder> take(SourceOrigin origin);
  std::variant<BuildReply, LostWorker> build_once(std::optional<Builder> builder, const BuildRequest& bound,
                                                  AnswerDeadline deadline, SourceOrigin origin);

  const SandboxSpec spec_;
  const std::string compiler_;
  const std::unique_ptr<BuildCache> cache_;
  std::mutex mutex_;
  std::vector<Builder> idle_;
};

}  // namespace kw

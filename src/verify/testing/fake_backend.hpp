#pragma once
// A scripted ExecutionBackend: no device, no processes, a clock that the fake ticks. Kernels behave as told, well or
// badly, so that gates, verifier and loop are tested anywhere. Right answers come from the oracle.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/rng.hpp"
#include "verify/processes/execution_backend.hpp"

namespace kw {

/// How a fake kernel behaves when it is launched.
enum class FakeBehaviour : std::uint8_t {
  honest,
  writes_zeros,
  writes_nothing,
  copies_input,
  last_row_wrong,
  right_on_primary_only,
  shifted_on_primary,  ///< there, and with scores above 88, its answer is off by a constant
  modifies_input,
  writes_guard,
  differs_each_run,
  wrong_when_cold,  ///< right while it is checked, wrong while it is timed
  low_precision,    ///< rounds its answer to 11 bits
  lies_about_time,  ///< claims a hundredth of the time it takes
  shaves_time,      ///< claims three quarters of it
  replays,          ///< takes a tenth of its time on data whose first rows of Q and K have a product that it knows
  hangs,
  crashes,
  eats_memory,
};

struct FakeKernel {
  FakeBehaviour behaviour = FakeBehaviour::honest;
  double time_ns = 1e6;       ///< on the primary workload
  double relative_noise = 0;  ///< standard deviation of its times
  BuildStatus build = BuildStatus::ok;
  std::string build_log;
  bool build_hangs = false;       ///< it computes, until its processor time is over
  std::int64_t registers = -1;    ///< as BuildReply has it
  int lies_from_process = -1;     ///< lies_about_time in the process of this number and in later ones, counted from 0
  int crashes_from_process = -1;  ///< the same for crashes
  std::vector<InstructionMix> machine_code = {};  ///< as BuildReply has it
  std::vector<AccessCounts> accesses = {};        ///< as LaunchReply has it, where counting is asked for
  bool queued_ahead = false;                      ///< as LaunchReply has it
};

/// The source of a request as its author wrote it, without what the verifier puts in front of it (guarded_source).
[[nodiscard]] std::string written_source(const BuildRequest& request);

class FakeBackend final : public ExecutionBackend {
 public:
  /// `model` says what each built source is. `problem` must outlive the backend.
  FakeBackend(const Problem& problem, FakeClock& clock, std::function<FakeKernel(const BuildRequest&)> model);

  [[nodiscard]] const DeviceFacts& device() const override { return device_; }
  [[nodiscard]] const SandboxReport& sandbox() const override { return sandbox_; }
  std::variant<BuildReply, LostWorker> build(const BuildRequest& request, AnswerDeadline deadline,
                                             SourceOrigin origin) override;
  std::variant<std::unique_ptr<KernelProcess>, LaunchFailure, LostWorker> start(const StartRequest& request,
                                                                                Duration deadline) override;

  /// As the system does when it is short of memory: the next launch in any process started so far finds it gone.
  void kill_started() { killed_ = starts_; }

  /// From here on a build gets one in so many seconds of a processor's time.
  void make_busy(int share) { busy_machine_ = share; }

  [[nodiscard]] int builds() const { return builds_; }
  [[nodiscard]] int starts() const { return starts_; }
  /// Of all processes.
  [[nodiscard]] int launches() const { return launches_; }
  [[nodiscard]] DeviceFacts& mutable_device() { return device_; }

 private:
  const Problem& problem_;
  FakeClock& clock_;
  std::function<FakeKernel(const BuildRequest&)> model_;
  std::map<std::string, FakeKernel> built_;  ///< by the opaque binary
  std::map<std::string, int> processes_;     ///< started of each
  DeviceFacts device_;
  SandboxReport sandbox_;
  Rng rng_{1};
  int busy_machine_ = 1;
  int builds_ = 0;
  int starts_ = 0;
  int launches_ = 0;
  int killed_ = 0;  ///< of the started ones, the first
};

}  // namespace kw

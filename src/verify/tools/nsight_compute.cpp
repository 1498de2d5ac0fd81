#include "verify/tools/nsight_compute.hpp"

#include <chrono>
#include <utility>

#include "verify/checking/case_runner.hpp"
#include "verify/tools/gpu_tool_probe.hpp"
#include "verify/tools/ncu_report.hpp"

namespace kw {
namespace {

/// Every group of counters is a launch of its own, with memory saved and put back around it.
constexpr Duration k_profiled_launch_deadline = std::chrono::seconds(60);
constexpr Duration k_profiler_end_deadline = std::chrono::seconds(20);

class NsightCompute final : public Profiler {
 public:
  NsightCompute(std::string tool, std::unique_ptr<ExecutionBackend> backend)
      : tool_(std::move(tool)), backend_(std::move(backend)) {}

  std::variant<HardwareCounters, std::string> profile(const RunFacts& facts, const LoadedCandidate& built,
                                                      StepClock& clock) override {
    constexpr std::size_t k_primary = 0;
    LoadedCandidate watched;
    watched.candidate = built.candidate;
    watched.built = {built.built.binaries, {built.built.plans[k_primary]}};
    auto started = backend_->start(watched.built, facts.options.deadlines.start);
    auto* process = std::get_if<std::unique_ptr<KernelProcess>>(&started);
    if (const auto* lost = std::get_if<LostWorker>(&started)) return "Nsight Compute does not start: " + lost->detail;
    if (process == nullptr) return "Nsight Compute: " + std::get<LaunchFailure>(started).what;
    watched.process = std::move(*process);
    const auto run = run_case(facts.problem, watched, case_of(facts.suite, k_primary),
                              {false, k_nan_poison, k_profiled_launch_deadline}, clock, facts.options.parallel);
    const ToolReport report = watched.process->finish(k_profiler_end_deadline);
    auto counters = read_counters(report.text);
    if (auto* counted = std::get_if<HardwareCounters>(&counters)) {
      counted->tool = tool_;
    } else if (!run && report.text.empty()) {
      return run.error().sentence;
    }
    return counters;
  }

 private:
  std::string tool_;
  std::unique_ptr<ExecutionBackend> backend_;
};

Result<std::filesystem::path> find_program() {
  if (const auto program = find_gpu_tool("ncu")) return *program;
  return fail(Error{errc::gpu_tool, "Nsight Compute (ncu) is not installed",
                    "it comes with the CUDA toolkit; set CUDA_HOME or PATH if it lies elsewhere"});
}

Result<std::unique_ptr<ExecutionBackend>> open_watched(const BackendOptions& options, const ExecutionBackend& backend,
                                                       const std::filesystem::path& program) {
  BackendOptions watched = options;
  watched.tool = nsight_compute(program, profiled_metrics());
  return open_watched_backend(watched, backend);
}

}  // namespace

Result<std::unique_ptr<Profiler>> open_nsight_compute(const BackendOptions& options, const ExecutionBackend& backend) {
  KW_TRY(const auto program, find_program());
  KW_TRY(auto watched, open_watched(options, backend, program));
  return std::make_unique<NsightCompute>("Nsight Compute " + gpu_tool_version(program), std::move(watched));
}

Result<std::string> try_nsight_compute(const BackendOptions& options, ExecutionBackend& backend) {
  KW_TRY(const auto program, find_program());
  KW_TRY(const auto watched, open_watched(options, backend, program));
  KW_TRY(const ToolReport report, launch_planted_mistake(backend, *watched));
  const auto counters = read_counters(report.text);
  if (const auto* why = std::get_if<std::string>(&counters)) return fail(errc::gpu_tool, "{}", *why);
  return gpu_tool_version(program);
}

}  // namespace kw

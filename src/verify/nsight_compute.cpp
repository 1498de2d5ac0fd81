#include "verify/nsight_compute.hpp"

#include <chrono>
#include <utility>

#include "verify/case_runner.hpp"
#include "verify/gpu_tool_probe.hpp"
#include "verify/ncu_report.hpp"
#include "verify/session.hpp"

namespace kw {
namespace {

/// Every group of counters is a launch of its own, with memory saved and put back around it.
constexpr Duration k_launch_deadline = std::chrono::seconds(60);
constexpr Duration k_end_deadline = std::chrono::seconds(20);

class NsightCompute final : public Profiler {
 public:
  NsightCompute(std::string tool, std::unique_ptr<Workbench> bench)
      : tool_(std::move(tool)), bench_(std::move(bench)) {}

  std::variant<HardwareCounters, std::string> profile(Session& session, const Contender& built) override {
    constexpr std::size_t k_primary = 0;
    Contender contender;
    contender.candidate = built.candidate;
    contender.built = {built.built.binaries, {built.built.plans[k_primary]}};
    auto started = bench_->start(contender.built, session.options.deadlines.start);
    auto* process = std::get_if<std::unique_ptr<KernelProcess>>(&started);
    if (const auto* lost = std::get_if<LostWorker>(&started)) return "Nsight Compute does not start: " + lost->detail;
    if (process == nullptr) return "Nsight Compute: " + std::get<LaunchFailure>(started).what;
    contender.process = std::move(*process);
    const auto run =
        run_case(session, contender, case_of(session, k_primary), {false, k_nan_poison, k_launch_deadline});
    const ToolReport report = contender.process->finish(k_end_deadline);
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
  std::unique_ptr<Workbench> bench_;
};

Result<std::filesystem::path> find_program() {
  if (const auto program = find_gpu_tool("ncu")) return *program;
  return fail(Error{errc::gpu_tool, "Nsight Compute (ncu) is not installed",
                    "it comes with the CUDA toolkit; set CUDA_HOME or PATH if it lies elsewhere"});
}

Result<std::unique_ptr<Workbench>> open_watched(const WorkbenchOptions& options, const Workbench& bench,
                                                const std::filesystem::path& program) {
  WorkbenchOptions watched = options;
  watched.tool = nsight_compute(program, profiled_metrics());
  return open_watched_workbench(watched, bench);
}

}  // namespace

Result<std::unique_ptr<Profiler>> open_nsight_compute(const WorkbenchOptions& options, const Workbench& bench) {
  KW_TRY(const auto program, find_program());
  KW_TRY(auto watched, open_watched(options, bench, program));
  return std::make_unique<NsightCompute>("Nsight Compute " + gpu_tool_version(program), std::move(watched));
}

Result<std::string> try_nsight_compute(const WorkbenchOptions& options, Workbench& bench) {
  KW_TRY(const auto program, find_program());
  KW_TRY(const auto watched, open_watched(options, bench, program));
  KW_TRY(const ToolReport report, launch_planted_mistake(bench, *watched));
  const auto counters = read_counters(report.text);
  if (const auto* why = std::get_if<std::string>(&counters)) return fail(errc::gpu_tool, "{}", *why);
  return gpu_tool_version(program);
}

}  // namespace kw

#include "verify/processes/kernel_process.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <utility>

namespace kw {
namespace {

class SandboxedKernel final : public KernelProcess {
 public:
  SandboxedKernel(RunProcess process, std::vector<ArenaLayout> layouts, LaunchIsolation& isolation, bool fills_buffers)
      : process_(std::move(process)),
        layouts_(std::move(layouts)),
        isolation_(isolation),
        fills_buffers_(fills_buffers) {}
  SandboxedKernel(const SandboxedKernel&) = delete;
  SandboxedKernel& operator=(const SandboxedKernel&) = delete;
  ~SandboxedKernel() override {
    if (isolation_.arenas == nullptr) return;
    process_.worker.end();
    isolation_.arenas->put(std::move(process_.arena));
  }

  Result<void> select(std::size_t plan) override {
    if (plan >= layouts_.size()) return fail(errc::worker_failed, "there is no plan {} of {}", plan, layouts_.size());
    if (plan == selected_) return {};
    selected_ = plan;
    for (const auto guard : guards()) std::fill(guard.begin(), guard.end(), k_arena_poison);
    return {};
  }

  [[nodiscard]] std::span<std::byte> buffer(std::size_t index) override {
    KW_CHECK(index < layout().slots.size(), "buffer {} of {}", index, layout().slots.size());
    return slot_bytes(process_.arena.bytes(), layout().slots[index]);
  }

  [[nodiscard]] std::vector<std::span<std::byte>> guards() override {
    return guard_zones(process_.arena.bytes(), layout());
  }

  [[nodiscard]] std::string output() const override { return process_.worker.output(); }

  [[nodiscard]] ToolReport tool_report() const override {
    if (process_.report_file.empty()) return {};
    return {std::nullopt, process_.worker.file(process_.report_file)};
  }

  ToolReport finish(Duration deadline) override {
    const auto status = process_.worker.finish(deadline);
    ToolReport report = tool_report();
    report.exit_status = status;
    return report;
  }

  std::variant<LaunchOutcome, LaunchFailure, LostWorker> launch(bool cold, Duration deadline) override {
    return launch_filled({}, cold, deadline);
  }

  [[nodiscard]] bool fills_buffers() const override { return fills_buffers_; }

  std::variant<LaunchOutcome, LaunchFailure, LostWorker> launch_filled(const LaunchFilling& filling, bool cold,
                                                                       Duration deadline) override {
    const auto hold = isolation_.lock.hold(isolation_.launches);
    const auto before = std::chrono::steady_clock::now();
    if (cold) isolation_.flush.run(process_.arena.bytes().first(static_cast<std::size_t>(layout().bytes)));
    const auto begin = std::chrono::steady_clock::now();
    const LaunchRequest request{static_cast<std::int64_t>(selected_.value()), cold, filling.fills, filling.returned,
                                filling.counted};
    auto answer = process_.worker.request(request, deadline);
    const Duration observed = std::chrono::steady_clock::now() - begin;
    if (auto* lost = std::get_if<LostWorker>(&answer)) return std::move(*lost);
    auto& reply = std::get<WorkerMessage>(answer);
    if (auto* failure = std::get_if<LaunchFailure>(&reply)) return std::move(*failure);
    if (auto* done = std::get_if<LaunchReply>(&reply)) {
      return LaunchOutcome{done->claimed_ns,          observed.count(),         Duration(begin - before).count(),
                           std::move(done->accesses), done->uncounted_accesses, std::move(done->changed),
                           std::move(done->useless),  done->queued_ahead};
    }
    return LostWorker{WorkerLoss::crashed, "answered a launch with something else"};
  }

 private:
  [[nodiscard]] const ArenaLayout& layout() const { return layouts_[selected_.value()]; }

  RunProcess process_;
  std::vector<ArenaLayout> layouts_;
  LaunchIsolation& isolation_;
  bool fills_buffers_;
  std::optional<std::size_t> selected_;  ///< from load_candidate() on
};

LoadRequest make_load_request(const std::string& device_id, const StartRequest& request, const ArenaPlan& arena,
                              const std::string& number_kernels) {
  LoadRequest load{device_id, arena.bytes, request.binaries, {}, request.inspection, request.counting, number_kernels};
  for (std::size_t i = 0; i < request.plans.size(); ++i) {
    const BuiltPlan& built = request.plans[i];
    load.plans.push_back({static_cast<std::int64_t>(built.binary), built.plan, arena.layouts[i].slots});
  }
  return load;
}

}  // namespace

Result<ArenaPlan> plan_arena(const StartRequest& request) {
  ArenaPlan plan;
  for (const BuiltPlan& built : request.plans) {
    KW_TRY(ArenaLayout layout, lay_out(built.plan));
    plan.bytes = std::max(plan.bytes, layout.bytes);
    plan.layouts.push_back(std::move(layout));
  }
  if (plan.layouts.empty()) return fail(errc::worker_failed, "nothing to run: the request has no plan");
  return plan;
}

std::variant<std::unique_ptr<KernelProcess>, LaunchFailure, LostWorker> load_candidate(
    RunProcess process, const std::string& device_id, const StartRequest& request, const ArenaPlan& plan,
    LaunchIsolation& isolation, Duration deadline, std::int64_t arena_bytes, const std::string& number_kernels) {
  if (process.arena.bytes().empty()) {
    auto sized = process.arena.fix_size(std::max(plan.bytes, arena_bytes));
    if (!sized) return LaunchFailure{sized.error().message};
  }
  KW_CHECK(process.arena.bytes().size() >= static_cast<std::size_t>(plan.bytes), "{} bytes in an arena of {}",
           plan.bytes, process.arena.bytes().size());
  const LoadRequest load = make_load_request(device_id, request, plan, number_kernels);
  auto answer = process.worker.request(load, deadline);
  if (auto* lost = std::get_if<LostWorker>(&answer)) return std::move(*lost);
  auto& reply = std::get<WorkerMessage>(answer);
  if (auto* failure = std::get_if<LaunchFailure>(&reply)) return std::move(*failure);
  if (!std::holds_alternative<LoadReply>(reply)) {
    return LostWorker{WorkerLoss::crashed, "answered a load with something else"};
  }
  auto kernel = std::make_unique<SandboxedKernel>(std::move(process), plan.layouts, isolation, !number_kernels.empty());
  if (auto selected = kernel->select(0); !selected) return LaunchFailure{selected.error().message};
  return kernel;
}

}  // namespace kw

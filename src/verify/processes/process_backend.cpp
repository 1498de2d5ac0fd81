#include "verify/processes/process_backend.hpp"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <deque>
#include <future>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "base/file_system.hpp"
#include "hardware/device_file.hpp"
#include "verify/processes/builders.hpp"
#include "verify/processes/kernel_process.hpp"
#include "verify/processes/language_access.hpp"
#include "verify/processes/number_kernels.hpp"
#include "verify/processes/toolchain_stamp.hpp"
#include "verify/processes/worker_spec.hpp"

namespace kw {
namespace {

/// Loading a driver takes 20 to 600 ms; a machine that needs longer than this has another problem.
constexpr Duration k_describe_deadline = std::chrono::seconds(60);
/// Room for the arena in a standby process before any candidate has told what it needs.
constexpr std::int64_t k_least_arena_bytes = std::int64_t{256} << 20;

Result<DescribeReply> ask_for_devices(WorkerProcess& builder, const std::string& device_id) {
  auto answer = builder.request(DescribeRequest{device_id}, k_describe_deadline);
  if (const auto* lost = std::get_if<LostWorker>(&answer)) {
    return fail(Error{errc::worker_failed, "the worker died while asking the drivers for devices: " + lost->detail,
                      "run a driver's own tool, such as clinfo, to see whether the driver works at all"});
  }
  auto& reply = std::get<WorkerMessage>(answer);
  if (auto* described = std::get_if<DescribeReply>(&reply)) return std::move(*described);
  return fail(errc::worker_failed, "the worker answered the question for devices with something else");
}

/// In a process of its own where there is a GPU, because it needs devices that the build process does not get.
Result<DescribeReply> ask_all_devices(const BackendOptions& options, WorkerProcess& builder) {
  if (!describing_needs_more()) return ask_for_devices(builder, "");
  KW_TRY(WorkerProcess describer, WorkerProcess::spawn(describe_spec(options)));
  return ask_for_devices(describer, "");
}

bool runs_target(const DeviceFacts& facts, const std::string& target) {
  const Language* language = find_language(target);
  return language == nullptr ? facts.target == target : runs(facts, *language);
}

/// The id the user means: the simulator by its bare name is its first device of the target.
std::string meant_device(const DescribeReply& described, const BackendOptions& options) {
  if (options.device_id != "sim") return options.device_id;
  const auto found = std::find_if(described.devices.begin(), described.devices.end(), [&](const DeviceFacts& facts) {
    return facts.kind == DeviceKind::simulator && runs_target(facts, options.target);
  });
  return found == described.devices.end() ? options.device_id : found->id;
}

Result<DeviceFacts> choose_device(DescribeReply described, const BackendOptions& options) {
  const std::string wanted = meant_device(described, options);
  for (DeviceFacts& facts : described.devices) {
    const bool of_target = options.target.empty() || runs_target(facts, options.target);
    const bool real = facts.kind != DeviceKind::null_device && facts.kind != DeviceKind::simulator;
    const bool chosen = wanted.empty() ? real && of_target : facts.id == wanted;
    if (!chosen) continue;
    // A runtime names one language; what it runs may be another that asks for the same runtime.
    if (!options.target.empty() && of_target) facts.target = options.target;
    return std::move(facts);
  }
  std::string known;
  for (const DeviceFacts& facts : described.devices) known += (known.empty() ? "" : ", ") + facts.id;
  Error error{errc::device_missing, !wanted.empty() ? fmt::format("there is no device '{}'", wanted)
                                    : options.target.empty()
                                        ? "this machine has no device"
                                        : fmt::format("this machine has no device for target {}", options.target)};
  if (!described.problem.empty()) error.message += ": " + described.problem;
  error.hint = known.empty() ? "kernelwright doctor shows what is missing" : "use one of: " + known;
  if (!wanted.empty() && find_device_facts(wanted)) {
    error.message = fmt::format("there is no {} here, only facts about it", wanted);
    error.hint = "`kernelwright build` compiles for it; " + error.hint;
  }
  return fail(std::move(error));
}

/// Who compiles for a device: for GPUs the language's compiler, which may need neither GPU nor driver.
std::string compiler_of(const DeviceFacts& device) {
  const Language* language = find_language(device.target);
  const bool compiled_apart = language != nullptr && !language->gpu_compiler.empty();
  if (!device.gpu || device.kind != DeviceKind::gpu || !compiled_apart) return device.id;
  return fmt::format("{}:{}", language->gpu_compiler, device.gpu->arch);
}

/// What compiles for `device`, as far as its toolchain does not tell.
std::string compiler_identity(const DeviceFacts& device) {
  const std::string id = compiler_of(device);
  return id == device.id ? fmt::format("{}, {}, {}", id, device.name, device.driver) : id;
}

/// Begun in a thread of its own, because it takes some hundredths of a second; not valid where nothing is kept.
std::shared_future<Hash> begin_stamp(const BackendOptions& options, const SandboxGrants& grants) {
  if (options.build_cache.empty()) return {};
  return std::async(std::launch::async, toolchain_stamp, build_spec(options, grants)).share();
}

std::unique_ptr<BuildCache> open_cache(const BackendOptions& options, const SandboxReport& sandbox,
                                       const DeviceFacts& device, std::shared_future<Hash> toolchain) {
  if (!toolchain.valid() || sandbox.tier == SandboxTier::none) return nullptr;
  return std::make_unique<BuildCache>(options.build_cache, compiler_identity(device), std::move(toolchain));
}

class ProcessBackend final : public ExecutionBackend {
 public:
  ProcessBackend(BackendOptions options, SandboxReport sandbox, DeviceFacts device,
                 std::optional<WorkerProcess> builder, std::unique_ptr<BuildCache> cache = nullptr)
      : options_(std::move(options)),
        sandbox_(std::move(sandbox)),
        device_(std::move(device)),
        arenas_(memory_to_keep()),
        isolation_{CacheFlush(device_), DeviceLock(device_),
                   options_.tool ? DeviceLock::Kind::beside_untimed : DeviceLock::Kind::alone,
                   device_.kind == DeviceKind::gpu && !options_.tool ? &arenas_ : nullptr},
        builders_(build_spec(options_, build_grants(device_)), compiler_of(device_), std::move(builder),
                  std::move(cache)),
        numbers_(device_, [this](const BuildRequest& request, AnswerDeadline deadline) {
          return builders_.build_apart(request, deadline);
        }) {}

  [[nodiscard]] const DeviceFacts& device() const override { return device_; }
  [[nodiscard]] const SandboxReport& sandbox() const override { return sandbox_; }

  std::variant<BuildReply, LostWorker> build(const BuildRequest& request, AnswerDeadline deadline,
                                             SourceOrigin origin) override {
    prepare_standby();
    return builders_.build(request, deadline, origin);
  }
  [[nodiscard]] std::int64_t builds_found() const override { return builders_.found(); }

  void prepare() override { prepare_standby(); }

  void expect(std::optional<int> starts) override {
    const std::lock_guard lock(standby_mutex_);
    expected_ = starts;
    while (starts && std::ssize(standby_) > *starts) {
      // The future keeps what the thread was given: the thread itself has to end the process.
      ending_.push_back(std::async(std::launch::async,
                                   [process = std::move(standby_.back().process)]() mutable { process.worker.end(); }));
      standby_.pop_back();
    }
  }

  std::variant<std::unique_ptr<KernelProcess>, LaunchFailure, LostWorker> start(const StartRequest& request,
                                                                                Duration deadline) override {
    const auto plan = plan_arena(request);
    if (!plan) return LaunchFailure{plan.error().message};
    bool was_ready = false;
    auto first = load_once(request, *plan, deadline, &was_ready);
    if (device_.kind == DeviceKind::gpu) prepare_standby();  // elsewhere one is enough, and each build adds it
    if (std::holds_alternative<LaunchFailure>(first)) builders_.distrust(request.binaries);
    const auto* lost = std::get_if<LostWorker>(&first);
    if (lost == nullptr || (lost->how == WorkerLoss::timed_out && !was_ready)) return first;
    // No candidate code has run yet: the process in reserve may have died of something else, so ask a second one.
    return load_once(request, *plan, deadline, nullptr);
  }

 private:
  struct Standby {
    RunProcess process;
    std::int64_t arena_bytes;  ///< the sandbox lets it map this much
  };

  /// Into a process of the reserve where one fits and `was_ready` is given, which tells of it: such a process has had
  /// time to load its driver, and one that is silent all the same, as when somebody has stopped it, is not waited for.
  std::variant<std::unique_ptr<KernelProcess>, LaunchFailure, LostWorker> load_once(const StartRequest& request,
                                                                                    const ArenaPlan& plan,
                                                                                    Duration deadline,
                                                                                    bool* was_ready) {
    constexpr int k_reserve_share = 8;
    auto process = take_process(plan.bytes, was_ready);
    if (!process) return LostWorker{WorkerLoss::not_started, process.error().to_string()};
    if (was_ready != nullptr && *was_ready) deadline /= k_reserve_share;
    // The next candidates need about as much: arenas that are as large as the largest of the last ones serve all of
    // them.
    const std::int64_t arena_bytes = isolation_.arenas != nullptr ? arena_needed() : 0;
    return load_candidate(*std::move(process), device_.id, request, plan, isolation_, deadline, arena_bytes,
                          is_worth_filling(request) ? numbers_.binary() : "");
  }

  /// A tool that watches would watch those kernels too.
  [[nodiscard]] bool is_worth_filling(const StartRequest& request) const {
    return !options_.tool && std::ranges::any_of(request.plans, [](const BuiltPlan& built) {
      return std::ranges::any_of(built.plan.buffers,
                                 [](const PlannedBuffer& one) { return one.bytes >= k_least_filled_bytes; });
    });
  }

  /// With the memory of one that has ended where that has `least_bytes`.
  Result<RunProcess> spawn_run_process(const ArenaRoom& room, std::int64_t least_bytes) {
    std::optional<Arena> arena = isolation_.arenas != nullptr ? arenas_.take(least_bytes) : std::nullopt;
    if (!arena) {
      KW_TRY(arena, Arena::create());
    }
    KW_TRY(WorkerProcess worker, WorkerProcess::spawn(run_spec(options_, device_, *arena, room)));
    return RunProcess{*std::move(arena), std::move(worker), options_.tool ? options_.tool->report_file : ""};
  }

  /// Starts the next run process unless enough are waiting: for each build one, and on a GPU for each start, so
  /// that a reserve that was used up fills again. A failure shows when the process is needed.
  void prepare_standby() {
    if (options_.standby && !options_.tool) numbers_.begin();
    const std::lock_guard lock(standby_mutex_);
    const int reserve = device_.kind == DeviceKind::gpu ? options_.gpu_reserve : 1;
    const int wanted = std::min(reserve, expected_.value_or(reserve));
    if (!options_.standby || std::ssize(standby_) >= wanted) return;
    auto process = spawn_run_process({arena_room_, cleared_ahead(wanted)}, arena_needed_);
    if (!process) return;
    const auto sized = static_cast<std::int64_t>(process->arena.bytes().size());
    const std::int64_t room = sized > 0 ? std::min(sized, arena_room_) : arena_room_;
    standby_.push_back(Standby{*std::move(process), room});
  }

  /// What the largest of the last candidates needed, where all in reserve together leave the machine most of its
  /// memory. On a processor clearing would take it from what is timed.
  [[nodiscard]] std::int64_t cleared_ahead(std::int64_t processes) const {
    constexpr std::int64_t k_least_worth_it = std::int64_t{1} << 20;
    if (device_.kind != DeviceKind::gpu || arena_needed_ < k_least_worth_it) return 0;
    return processes * arena_needed_ <= memory_to_keep() ? arena_needed_ : 0;
  }

  static std::int64_t memory_to_keep() {
    constexpr std::int64_t k_part_of_memory = 8;
    return std::int64_t{::sysconf(_SC_PHYS_PAGES)} * ::sysconf(_SC_PAGESIZE) / k_part_of_memory;
  }

  std::int64_t arena_needed() {
    const std::lock_guard lock(standby_mutex_);
    return arena_needed_;
  }

  /// Candidates of one problem differ by their workspaces: what fits one has room for another that is a little larger.
  static std::int64_t with_room(std::int64_t bytes) {
    const auto step =
        static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(std::max<std::int64_t>(bytes, 8)))) / 8;
    return (bytes + step - 1) / step * step;
  }

  /// A new one where `was_ready` is null.
  Result<RunProcess> take_process(std::int64_t arena_bytes, bool* was_ready) {
    const std::lock_guard lock(standby_mutex_);
    if (expected_) expected_ = std::max(0, *expected_ - 1);
    const std::int64_t needed = with_room(arena_bytes);
    arena_room_ = std::max(arena_room_, needed);
    // One that asked for far more than the others is forgotten after some of them.
    arena_needed_ = std::max(arena_needed_ - arena_needed_ / 8, needed);
    const auto fits =
        std::ranges::find_if(standby_, [&](const Standby& one) { return one.arena_bytes >= arena_bytes; });
    if (fits == standby_.end() || was_ready == nullptr) {
      // Later candidates may need as much; one of those that are too small makes place for one that is not.
      if (!standby_.empty()) standby_.pop_front();
      return spawn_run_process({needed}, needed);
    }
    RunProcess taken = std::move(fits->process);
    standby_.erase(fits);
    *was_ready = true;
    return taken;
  }

  BackendOptions options_;
  SandboxReport sandbox_;
  DeviceFacts device_;
  ArenaPool arenas_;
  LaunchIsolation isolation_;
  std::mutex standby_mutex_;
  std::deque<Standby> standby_;  ///< the one that has had most time to load its driver first
  std::optional<int> expected_;  ///< as expect() said
  std::vector<std::future<void>> ending_;
  std::int64_t arena_room_ = k_least_arena_bytes;
  std::int64_t arena_needed_ = 0;  ///< by the largest of the candidates that were started lately
  Builders builders_;
  NumberKernelBuild numbers_;  ///< ends first: its thread builds
};

}  // namespace

Result<std::filesystem::path> find_worker(const std::filesystem::path& given) {
  std::filesystem::path path = given;
  if (path.empty()) {
    KW_TRY(const std::filesystem::path beside, executable_directory());
    path = beside / "kernelwright-worker";
  }
  std::error_code error;
  if (std::filesystem::is_regular_file(path, error)) return path;
  return fail(Error{errc::worker_missing, fmt::format("the worker executable {} does not exist", path.string()),
                    "build the target kernelwright-worker, or install it beside kernelwright"});
}

Result<DescribeReply> describe_devices(const std::filesystem::path& worker) {
  BackendOptions options;
  KW_TRY(options.worker, find_worker(worker));
  KW_TRY(WorkerProcess builder, WorkerProcess::spawn(describe_spec(options)));
  return ask_for_devices(builder, "");
}

Result<DescribeReply> describe_compiler(const Language& language, const std::filesystem::path& worker) {
  BackendOptions options;
  KW_TRY(options.worker, find_worker(worker));
  KW_TRY(WorkerProcess builder, WorkerProcess::spawn(build_spec(options, language.build)));
  return ask_for_devices(builder, std::string(language.gpu_compiler));
}

Result<std::unique_ptr<ExecutionBackend>> open_build_backend(const BackendOptions& options, DeviceFacts device) {
  BackendOptions bound = options;
  bound.standby = false;
  KW_TRY(bound.worker, find_worker(options.worker));
  KW_TRY(WorkerProcess builder, WorkerProcess::spawn(build_spec(bound, build_grants(device))));
  return std::make_unique<ProcessBackend>(std::move(bound), SandboxReport{}, std::move(device), std::move(builder));
}

Result<std::unique_ptr<ExecutionBackend>> open_watched_backend(const BackendOptions& options,
                                                               const ExecutionBackend& backend) {
  BackendOptions bound = options;
  KW_TRY(bound.worker, find_worker(options.worker));
  return std::make_unique<ProcessBackend>(std::move(bound), backend.sandbox(), backend.device(), std::nullopt);
}

Result<std::unique_ptr<ExecutionBackend>> open_process_backend(const BackendOptions& options) {
  BackendOptions bound = options;
  KW_TRY(bound.worker, find_worker(options.worker));
  const SandboxGrants& meant = meant_grants(bound);
  auto toolchain = begin_stamp(bound, meant);
  KW_TRY(SandboxReport sandbox, probe_sandbox(bound.worker, bound.at_most));
  KW_TRY_VOID(require_tier(sandbox, bound.required));
  KW_TRY(WorkerProcess first, WorkerProcess::spawn(build_spec(bound, meant)));
  KW_TRY(DescribeReply described, ask_all_devices(bound, first));
  KW_TRY(DeviceFacts device, choose_device(std::move(described), bound));
  std::optional<WorkerProcess> builder;
  if (access_of(meant) == access_of(build_grants(device))) {
    builder = std::move(first);
  } else {
    toolchain = begin_stamp(bound, build_grants(device));
  }
  auto cache = open_cache(bound, sandbox, device, std::move(toolchain));
  return std::make_unique<ProcessBackend>(std::move(bound), std::move(sandbox), std::move(device), std::move(builder),
                                          std::move(cache));
}

}  // namespace kw

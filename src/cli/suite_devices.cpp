#include "cli/suite_devices.hpp"

#include <algorithm>

#include "cli/device_choice.hpp"
#include "cli/environment.hpp"
#include "loop/threads.hpp"
#include "suite/kernelbench_judge.hpp"

namespace kw {
namespace {

class OpenedSuiteDevice final : public SuiteDevice {
 public:
  OpenedSuiteDevice(OpenedDevice opened, std::unique_ptr<Archive> archive, const SuiteDeviceOptions& options,
                    int threads)
      : opened_(std::move(opened)),
        archive_(std::move(archive)),
        clock_(options.clock),
        stop_(options.stop),
        target_(options.settings.target),
        style_(options.settings.style),
        parallel_(parallel_for(threads)) {}

  [[nodiscard]] std::string id() const override { return opened_.backend->device().id; }
  [[nodiscard]] Archive& archive() override { return *archive_; }

  Result<RunRecord> run(const RunSetup& setup, RunObserver& observer) override {
    RunSetup now = setup;
    now.started_utc = utc_now();
    now.calibrated = calibrated_;
    RunServices services{*opened_.backend, *archive_,       files_,     clock_,   observer, stop_,
                         parallel_,        opened_.tools(), run_beside, start_now};
    auto run = run_loop(now, services);
    if (run) calibrated_ = run->device;
    return run;
  }

  KernelBenchVerdict judge_as_kernelbench(const Problem& problem) override {
    return judge_by_kernelbench(problem, {*opened_.backend, clock_, target_, style_, parallel_});
  }

 private:
  OpenedDevice opened_;
  std::unique_ptr<Archive> archive_;
  RealFileSystem files_;
  const Clock& clock_;
  const std::atomic<bool>& stop_;
  std::string target_;
  std::string style_;
  ParallelFor parallel_;
  /// Peaks are the device's, and measuring them takes about a second: once for all problems.
  std::optional<DeviceFacts> calibrated_;
};

}  // namespace

Result<std::vector<std::unique_ptr<SuiteDevice>>> open_suite_devices(const SuiteDeviceOptions& options) {
  const auto& names = options.settings.devices;
  const int threads = std::max(1, usable_processors() / static_cast<int>(names.size()));
  std::vector<std::unique_ptr<SuiteDevice>> devices;
  for (const auto& name : names) {
    KW_TRY(auto opened, open_device(name, options.settings.target, options.require_sandbox));
    const std::string& id = opened.backend->device().id;
    if (std::ranges::any_of(devices, [&](const auto& other) { return other->id() == id; })) {
      return fail(Error{errc::suite_device, fmt::format("the device {} is given twice", id),
                        "name each device once: two runs on one would disturb each other's times"});
    }
    KW_TRY(auto archive, open_archive(options.archive));
    devices.push_back(std::make_unique<OpenedSuiteDevice>(std::move(opened), std::move(archive), options, threads));
  }
  return devices;
}

}  // namespace kw

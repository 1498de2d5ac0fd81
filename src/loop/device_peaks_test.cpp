// When a run measures the device's peaks, how thoroughly, and what it leaves to later runs.

#include "loop/device_peaks.hpp"

#include "loop/testing/run_fixture.hpp"

namespace kw {
namespace {

/// On a processor whose peaks nobody knows. Its calibration kernels take 10 ms a launch.
class DevicePeaksTest : public RunTest {
 protected:
  DevicePeaksTest() {
    model = [this](const BuildRequest& request) {
      const std::string& kernel = request.launches.front().kernel;
      if (kernel != "multiply_add" && kernel != "touch" && kernel != "copy") return landscape(request);
      ++calibrations;
      return FakeKernel{FakeBehaviour::writes_nothing, calibration_ns, 0, BuildStatus::ok, "", false};
    };
  }

  Result<RunRecord> run_on_processor(const std::string& day) {
    setup.started_utc = day + "T00:00:00Z";
    calibrations = 0;
    const auto archive = open();
    RealFileSystem files;
    FakeBackend backend(setup.problem, clock, model);
    backend.mutable_device().kind = DeviceKind::cpu;
    device = backend.device();
    RunServices services{backend, *archive, files, clock, observer, stop, serial_for};
    return run_loop(setup, services);
  }
  std::optional<MeasuredPeaks> kept() {
    RealFileSystem files;
    return PeakFile(files, setup.root).find(device);
  }

  DeviceFacts device;
  double calibration_ns = 10e6;
  int calibrations = 0;  ///< builds of calibration kernels, three each time
};

TEST_F(DevicePeaksTest, are_measured_briefly_by_the_first_run_which_completes_them_when_it_has_ended) {
  const auto first = run_on_processor("2026-11-25");
  ASSERT_TRUE(first) << first.error().to_string();
  EXPECT_EQ(calibrations, 6) << "briefly before, in full after";
  ASSERT_TRUE(kept().has_value());
  EXPECT_FALSE(kept()->brief);
  EXPECT_EQ(kept()->bytes, first->device.peak_bytes);
  ASSERT_TRUE(run_on_processor("2026-12-25"));
  EXPECT_EQ(calibrations, 0) << "known for a month";
  EXPECT_EQ(kept()->date, "2026-11-25") << "using them makes them no younger";
  ASSERT_TRUE(run_on_processor("2026-12-26"));
  EXPECT_EQ(calibrations, 3) << "in full at once: what was known already would serve";
  EXPECT_EQ(kept()->date, "2026-12-26");
}

TEST_F(DevicePeaksTest, are_left_brief_by_a_run_that_is_stopped_and_completed_by_the_next) {
  observer.on_attempt = [this](const Attempt&) { stop = true; };
  ASSERT_TRUE(run_on_processor("2026-11-25"));
  EXPECT_EQ(calibrations, 3);
  EXPECT_TRUE(kept()->brief);
  observer.on_attempt = nullptr;
  stop = false;
  ASSERT_TRUE(run_on_processor("2026-11-26"));
  EXPECT_EQ(calibrations, 3) << "none before the search";
  EXPECT_FALSE(kept()->brief);
}

TEST_F(DevicePeaksTest, are_not_completed_where_that_would_take_longer_than_the_budget_lasts) {
  calibration_ns = 1e9;
  setup.limits = parse_budget("60s").value();
  const Instant began = clock.now();
  const auto record = run_on_processor("2026-11-25");
  ASSERT_TRUE(record) << record.error().to_string();
  EXPECT_EQ(calibrations, 3);
  EXPECT_TRUE(kept()->brief);
  EXPECT_LE(to_seconds(clock.now() - began), 60.0);
}

TEST_F(DevicePeaksTest, never_fall) {
  ASSERT_TRUE(run_on_processor("2026-11-25"));
  const double bytes = kept()->bytes;
  RealFileSystem files;
  device.peak_f32_flops = 1e20;
  device.peak_bytes = bytes / 2;
  ASSERT_TRUE(PeakFile(files, setup.root).keep(device, "2026-01-01", true));
  const auto record = run_on_processor("2026-11-26");
  ASSERT_TRUE(record) << record.error().to_string();
  EXPECT_EQ(record->device.peak_f32_flops, 1e20);
  EXPECT_EQ(record->device.peak_bytes, bytes);
  EXPECT_EQ(kept()->f32_flops, 1e20);
}

}  // namespace
}  // namespace kw

#include "verify/timing/calibrate.hpp"

#include <gtest/gtest.h>

#include "codegen/calibration.hpp"
#include "verify/testing/fake_backend.hpp"
#include "verify/testing/test_problem.hpp"
#include "verify/timing/calibration_process.hpp"

namespace kw {
namespace {

/// A processor whose calibration kernels take 10 ms a launch.
class CalibrateTest : public ::testing::Test {
 protected:
  CalibrateTest() { backend.mutable_device().kind = DeviceKind::cpu; }

  /// Launches of all kernels, by the time they take.
  std::int64_t launches_of(CalibrationEffort effort) {
    const int builds = backend.builds(), starts = backend.starts();
    const Instant began = clock.now();
    const auto facts = calibrate(backend, effort);
    EXPECT_TRUE(facts) << facts.error().to_string();
    EXPECT_GT(facts->peak_f32_flops, 0);
    EXPECT_GT(facts->peak_bytes, 0);
    EXPECT_EQ(backend.builds() - builds, 3);
    EXPECT_EQ(backend.starts() - starts, 3);
    constexpr Duration k_builds_and_starts = 3 * std::chrono::milliseconds(100) + 3 * std::chrono::milliseconds(10);
    return (clock.now() - began - k_builds_and_starts) / std::chrono::milliseconds(10);
  }

  Problem problem = small_problem();
  FakeClock clock;
  FakeBackend backend{problem, clock, [](const BuildRequest&) {
                        return FakeKernel{FakeBehaviour::writes_nothing, 10e6, 0, BuildStatus::ok, "", false};
                      }};
};

TEST_F(CalibrateTest, launches_each_kernel_twice_when_it_is_brief) {
  EXPECT_EQ(launches_of(CalibrationEffort::brief), 6);
  EXPECT_EQ(launches_of(CalibrationEffort::full), 15);
}

TEST_F(CalibrateTest, builds_all_kernels_at_the_same_time) {
  std::vector<std::int64_t> counts;
  const auto facts = calibrate(backend, CalibrationEffort::brief, [&](std::int64_t count, const auto& body) {
    counts.push_back(count);
    serial_for(count, body);
  });
  ASSERT_TRUE(facts) << facts.error().to_string();
  EXPECT_EQ(counts, std::vector<std::int64_t>{3});
}

TEST_F(CalibrateTest, takes_the_faster_way_to_move_memory) {
  for (const char* faster : {"touch", "copy"}) {
    FakeBackend device(problem, clock, [&](const BuildRequest& request) {
      const double time_ns = request.launches.front().kernel == faster ? 1e6 : 10e6;
      return FakeKernel{FakeBehaviour::writes_nothing, time_ns, 0, BuildStatus::ok, "", false};
    });
    device.mutable_device().kind = DeviceKind::cpu;
    const auto facts = calibrate(device, CalibrationEffort::brief);
    ASSERT_TRUE(facts) << facts.error().to_string();
    EXPECT_DOUBLE_EQ(facts->peak_bytes, bandwidth_calibration(device.device())->bytes / 1e-3) << faster;
  }
}

TEST_F(CalibrateTest, leaves_alone_what_the_driver_tells_and_what_is_never_timed) {
  EXPECT_TRUE(needs_calibration(backend.device()));
  backend.mutable_device().kind = DeviceKind::simulator;
  EXPECT_FALSE(needs_calibration(backend.device()));
  ASSERT_TRUE(calibrate(backend));
  EXPECT_EQ(backend.builds(), 0);
  DeviceFacts gpu = backend.device();
  gpu.kind = DeviceKind::gpu;
  gpu.gpu.emplace();
  EXPECT_TRUE(needs_calibration(gpu)) << "it says no peaks";
  gpu.peak_f32_flops = 1e13;
  gpu.peak_bytes = 1e12;
  EXPECT_FALSE(needs_calibration(gpu));
}

TEST_F(CalibrateTest, says_what_went_wrong) {
  FakeBackend broken(problem, clock, [](const BuildRequest&) {
    return FakeKernel{FakeBehaviour::honest, 1e6, 0, BuildStatus::source_error, "no such thing", false};
  });
  broken.mutable_device().kind = DeviceKind::cpu;
  const auto facts = calibrate(broken);
  ASSERT_FALSE(facts);
  EXPECT_EQ(facts.error().code, errc::calibration);
  EXPECT_EQ(facts.error().message, "cannot measure the peaks of fake: no such thing");
}

}  // namespace
}  // namespace kw

#include "loop/verifier_setup.hpp"

#include <gtest/gtest.h>

#include "problem/problem.hpp"

namespace kw {
namespace {

using std::chrono::seconds;

TEST(VerifierSetup, a_candidates_builds_take_a_quarter_of_the_run_at_most) {
  EXPECT_EQ(build_share(seconds(30), 80.0), seconds(20));
  EXPECT_EQ(build_share(seconds(30), 900.0), seconds(30)) << "never longer than usual";
  EXPECT_EQ(build_share(seconds(30), 4.0), seconds(15)) << "a busy machine still builds honest kernels";
  EXPECT_EQ(build_share(seconds(30), std::nullopt), seconds(30));
}

/// Four heads of `length` queries and keys.
Problem full_attention(std::int64_t length) {
  auto problem = parse_problem(fmt::format(R"(
name = "test/full"
op = "attention"
description = "for its cost"
[axes]
B = 1
Hq = 4
Sq = {0}
Skv = {0}
D = 64
[attention]
dtype = "f32"
[[workload]]
name = "odd"
role = "edge"
Sq = 7
Skv = 9
)",
                                           length),
                               "full.toml");
  KW_CHECK(problem.has_value(), "{}", problem.error().to_string());
  return *std::move(problem);
}

TEST(VerifierSetup, takes_a_slow_plain_kernels_time_from_its_checks) {
  DeviceFacts device;
  device.kind = DeviceKind::cpu;
  device.target = "opencl";
  const auto timed_by_checks = [&](std::int64_t length) {
    const auto options = verifier_options(full_attention(length), "opencl", device, serial_for, {});
    EXPECT_TRUE(options) << options.error().to_string();
    return options->plain_is_timed_by_checks;
  };
  EXPECT_TRUE(timed_by_checks(512)) << "some 70 ms, and 0.4 ms of a cold cache";
  EXPECT_FALSE(timed_by_checks(128)) << "4 ms";
  device.kind = DeviceKind::null_device;
  EXPECT_FALSE(timed_by_checks(512)) << "a rule of processors";
}

}  // namespace
}  // namespace kw

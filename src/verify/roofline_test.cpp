// How far a time is from what peaks of the device allow.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "record/peak_times.hpp"
#include "verify/local_verifier.hpp"
#include "verify/testing/fake_backend.hpp"
#include "verify/testing/test_problem.hpp"
#include "verify/testing/verifier_fixture.hpp"

namespace kw {
namespace {

TEST_F(VerifierTest, judges_by_peaks_measured_again_and_tells_them) {
  backend.mutable_device().peak_f32_flops = 1e9;
  backend.mutable_device().peak_bytes = 1e6;  // measured while the machine was busy: the bound is about 5 ms
  open();
  backend.mutable_device().peak_f32_flops = 1e12;
  backend.mutable_device().peak_bytes = 1e11;
  const auto result = verify("honest");
  ASSERT_TRUE(result.verdict.accepted()) << result.verdict.message;
  EXPECT_EQ(verifier->device().peak_f32_flops, 1e12);
  EXPECT_EQ(verifier->device().peak_bytes, 1e11);
  ASSERT_TRUE(result.measurement && result.measurement->roofline_fraction);
  const auto bound = peak_times(verifier->device(), problem, cost(problem, problem.primary()));
  ASSERT_TRUE(bound);
  EXPECT_DOUBLE_EQ(*result.measurement->roofline_fraction, bound->bound_ns() / result.measurement->median_ns);
}

TEST_F(VerifierTest, sets_the_time_against_the_memory_alone_where_no_operations_are_known_to_be_needed) {
  backend.mutable_device().peak_f32_flops = 1e12;
  backend.mutable_device().peak_bytes = 1e11;
  const std::pair<double, const char*> texts[] = {{2e6, " % of the roofline at 2.0 FLOP per byte"},
                                                  {0, "% of what the memory allows; no number of operations"}};
  for (const auto& [flops, text] : texts) {
    VerifierOptions options;
    options.secret_seed = 7;
    options.costs = std::make_shared<WorkloadCosts>(problem, [flops = flops](const Problem&, const Workload&) {
      return WorkloadCost{flops, 1e6, 1e6};
    });
    options.device = backend.device();
    options.plain = small_candidate("plain");
    options.suite = {1e12, 1e12};
    auto opened = LocalVerifier::open(problem, backend, clock, std::move(options));
    ASSERT_TRUE(opened) << opened.error().to_string();
    const auto result = (*opened)->verify(small_candidate("honest"));
    ASSERT_TRUE(result.verdict.accepted()) << result.verdict.message;
    EXPECT_THAT(result.verdict.evidence,
                ::testing::Contains(::testing::Field(&Evidence::text, ::testing::HasSubstr(text))));
  }
}

TEST(WaitsForMemory, by_the_measured_peaks) {
  DeviceFacts device;
  EXPECT_FALSE(waits_for_memory(device, {1e6, 8e6, 1e6})) << "the peaks are not known";
  device.peak_f32_flops = 1e12;
  EXPECT_FALSE(waits_for_memory(device, {1e6, 8e6, 1e6})) << "one of them is not";
  device.peak_bytes = 1e11;
  EXPECT_TRUE(waits_for_memory(device, {1e6, 8e6, 1e6}));
  EXPECT_FALSE(waits_for_memory(device, {1e9, 8e6, 1e9})) << "operations take longer than bytes";
  EXPECT_FALSE(waits_for_memory(device, {0, 8e6, 1e9})) << "they can be avoided in part, as a convolution's can";
  EXPECT_FALSE(waits_for_memory(device, {0, 0, 0}));
}

}  // namespace
}  // namespace kw

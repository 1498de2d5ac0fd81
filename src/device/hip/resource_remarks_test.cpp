#include "device/hip/resource_remarks.hpp"

#include <gtest/gtest.h>

namespace kw::hip {
namespace {

/// As clang 15 prints them, with a warning between.
constexpr const char* k_log =
    "kernel.hip:3:1: remark: Function Name: first [-Rpass-analysis=kernel-resource-usage]\n"
    "kernel.hip:3:1: remark:     SGPRs: 48 [-Rpass-analysis=kernel-resource-usage]\n"
    "kernel.hip:3:1: remark:     VGPRs: 42 [-Rpass-analysis=kernel-resource-usage]\n"
    "kernel.hip:3:1: remark:     AGPRs: 8 [-Rpass-analysis=kernel-resource-usage]\n"
    "kernel.hip:3:1: remark:     ScratchSize [bytes/lane]: 16 [-Rpass-analysis=kernel-resource-usage]\n"
    "kernel.hip:3:1: remark:     Occupancy [waves/SIMD]: 8 [-Rpass-analysis=kernel-resource-usage]\n"
    "kernel.hip:3:1: remark:     SGPRs Spill: 3 [-Rpass-analysis=kernel-resource-usage]\n"
    "kernel.hip:3:1: remark:     VGPRs Spill: 5 [-Rpass-analysis=kernel-resource-usage]\n"
    "kernel.hip:3:1: remark:     LDS Size [bytes/block]: 256 [-Rpass-analysis=kernel-resource-usage]\n"
    "kernel.hip:9:2: warning: look [-Wsomething]\n"
    "kernel.hip:12:1: remark: Function Name: second [-Rpass-analysis=kernel-resource-usage]\n"
    "kernel.hip:12:1: remark:     VGPRs: many [-Rpass-analysis=kernel-resource-usage]\n";

TEST(ResourceRemarks, are_read_kernel_by_kernel) {
  const auto kernels = read_remarks(k_log);
  ASSERT_EQ(kernels.size(), 2U);
  EXPECT_EQ(kernels[0].kernel, "first");
  EXPECT_EQ(kernels[0].vector_registers, 42);
  EXPECT_EQ(kernels[0].accumulator_registers, 8);
  EXPECT_EQ(kernels[0].scratch_bytes, 16);
  EXPECT_EQ(kernels[0].spilled_registers, 5);
  EXPECT_EQ(kernels[0].static_shared_bytes, 256);
  EXPECT_EQ(kernels[1].kernel, "second");
  EXPECT_EQ(kernels[1].vector_registers, 0) << "no number";
}

TEST(ResourceRemarks, leave_a_log_with_what_is_for_people) {
  EXPECT_EQ(without_remarks(k_log), "kernel.hip:9:2: warning: look [-Wsomething]\n");
  EXPECT_EQ(without_remarks(""), "");
}

TEST(ResourceRemarks, figures_of_no_kernel_are_left_out) {
  EXPECT_TRUE(read_remarks("x: remark: VGPRs: 3 [-Rpass-analysis=kernel-resource-usage]\nremark:\n").empty());
}

}  // namespace
}  // namespace kw::hip

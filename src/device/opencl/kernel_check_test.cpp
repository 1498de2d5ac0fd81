// Mistakes between a kernel and its launch, in the words that a proposer reads.

#include "device/opencl/kernel_check.hpp"

#include <gtest/gtest.h>

#include "device/testing/fake_opencl.hpp"

namespace kw::opencl {
namespace {

class OpenclKernelCheck : public ::testing::Test {
 protected:
  OpenclKernelCheck() {
    driver_.kernels = {{"k",
                        {{"Q", "float*", CL_KERNEL_ARG_ADDRESS_GLOBAL},
                         {"table", "float*", CL_KERNEL_ARG_ADDRESS_CONSTANT},
                         {"n", "int", CL_KERNEL_ARG_ADDRESS_PRIVATE},
                         {"tile", "float*", CL_KERNEL_ARG_ADDRESS_LOCAL}},
                        {0, 0, 0},
                        64,
                        512,
                        96}};
  }
  KernelCheck check(const PlannedLaunch& launch) {
    const Session session = driver_.session();
    return check_kernels(session, fake_handle<cl_program>(0), std::span(&launch, 1));
  }
  void expect_mismatch(const PlannedLaunch& launch, BuildStatus status, const std::string& text) {
    const KernelCheck result = check(launch);
    EXPECT_EQ(result.mismatch.status, status);
    EXPECT_EQ(result.mismatch.text, text);
  }

  FakeOpencl driver_;
  PlannedLaunch launch_{"k", {4, 1, 1}, {8, 1, 1}, 256, {BufferArg{0}, BufferArg{1}, IntArg{5}, SharedArg{}}};
};

TEST_F(OpenclKernelCheck, takes_a_launch_that_fits_and_reports_what_it_uses) {
  const KernelCheck result = check(launch_);
  EXPECT_EQ(result.mismatch.status, BuildStatus::ok) << result.mismatch.text;
  EXPECT_EQ(result.shared_bytes, 512);
  EXPECT_EQ(result.stack_bytes, 96);
}

TEST_F(OpenclKernelCheck, names_the_kernels_there_are) {
  driver_.kernels.push_back({"pack", {}, {}, 1, 0, 0});
  launch_.kernel = "other";
  expect_mismatch(launch_, BuildStatus::kernel_missing,
                  "a launch names the kernel 'other', but the source has: k pack");
  driver_.kernels.clear();
  expect_mismatch(launch_, BuildStatus::kernel_missing, "a launch names the kernel 'other', but the source has: none");
}

TEST_F(OpenclKernelCheck, knows_a_kernel_that_the_driver_renamed) {
  driver_.kernels.push_back({"_cl_step", {}, {}, 1, 0, 0});
  launch_.kernel = "step";
  expect_mismatch(launch_, BuildStatus::kernel_missing,
                  "kernel 'step' has the name of a built-in function of OpenCL C: give it another, in the source and "
                  "in its launch");
  launch_.kernel = "cl_step";
  expect_mismatch(launch_, BuildStatus::kernel_missing,
                  "a launch names the kernel 'cl_step', but the source has: k _cl_step");
}

TEST_F(OpenclKernelCheck, counts_arguments) {
  launch_.args.pop_back();
  expect_mismatch(launch_, BuildStatus::kernel_args,
                  "kernel 'k' takes 4 arguments but the launch passes 3: make the launch's args match the kernel's "
                  "parameters");
}

TEST_F(OpenclKernelCheck, says_how_an_argument_would_have_to_be_declared) {
  launch_.args[0] = IntArg{1};
  expect_mismatch(launch_, BuildStatus::kernel_args,
                  "argument 1 of kernel 'k' is declared as `float* Q`, but the launch passes a whole number there: "
                  "declare it as an int, or change the launch's args");
  launch_.args[0] = BufferArg{0};
  launch_.args[3] = BufferArg{0};
  expect_mismatch(launch_, BuildStatus::kernel_args,
                  "argument 4 of kernel 'k' is declared as `float* tile`, but the launch passes a buffer there: "
                  "declare it as a __global (or __constant) pointer, or change the launch's args");
  launch_.args[3] = SharedArg{};
  launch_.args[2] = SharedArg{};
  expect_mismatch(launch_, BuildStatus::kernel_args,
                  "argument 3 of kernel 'k' is declared as `int n`, but the launch passes shared memory there: "
                  "declare it as a __local pointer, or change the launch's args");
}

TEST_F(OpenclKernelCheck, refuses_scalars_of_another_size_or_kind) {
  for (const char* type : {"float", "long", "size_t", "uchar"}) {
    driver_.kernels[0].arguments[2].type = type;
    EXPECT_EQ(check(launch_).mismatch.status, BuildStatus::kernel_args) << type;
  }
  for (const char* type : {"int", "uint", "index_t"}) {
    driver_.kernels[0].arguments[2].type = type;
    EXPECT_EQ(check(launch_).mismatch.status, BuildStatus::ok) << type;
  }
}

TEST_F(OpenclKernelCheck, leaves_arguments_to_a_driver_that_keeps_no_record_of_them) {
  driver_.records_arguments = false;
  launch_.args[0] = IntArg{1};
  EXPECT_EQ(check(launch_).mismatch.status, BuildStatus::ok);
}

TEST_F(OpenclKernelCheck, holds_the_block_to_what_the_source_declares) {
  driver_.kernels[0].required_block = {8, 1, 1};
  EXPECT_EQ(check(launch_).mismatch.status, BuildStatus::ok);
  driver_.kernels[0].required_block = {8, 2, 1};
  expect_mismatch(launch_, BuildStatus::resource,
                  "kernel 'k' declares reqd_work_group_size(8, 2, 1) but the launch's block is 8 x 1 x 1: make them "
                  "equal");
}

TEST_F(OpenclKernelCheck, holds_the_block_to_what_the_device_can) {
  launch_.block[1] = 9;
  expect_mismatch(launch_, BuildStatus::resource,
                  "kernel 'k' runs with at most 64 work-items per group on this device, the launch's block has 72");
}

}  // namespace
}  // namespace kw::opencl

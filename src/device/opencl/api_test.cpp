#include "device/opencl/api.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kw::opencl {
namespace {

TEST(OpenclApi, says_what_to_install_when_there_is_no_loader) {
  const auto api = load_api("libnosuch.so.1");
  ASSERT_FALSE(api);
  EXPECT_EQ(api.error().code.name, errc::device_unavailable.name);
  EXPECT_THAT(api.error().message, ::testing::StartsWith("OpenCL cannot be loaded: libnosuch.so.1: "));
  EXPECT_EQ(api.error().hint, "apt-get install ocl-icd-libopencl1 pocl-opencl-icd");
}

TEST(OpenclApi, names_the_function_that_a_loader_lacks) {
  const auto api = load_api("libm.so.6");
  ASSERT_FALSE(api);
  EXPECT_EQ(api.error().code.name, errc::device_unavailable.name);
  EXPECT_EQ(api.error().message, "the installed OpenCL loader lacks clGetPlatformIDs");
  EXPECT_EQ(api.error().hint, "apt-get install ocl-icd-libopencl1, which has OpenCL 1.2");
}

TEST(OpenclStatus, has_the_name_that_the_standard_gives_it) {
  EXPECT_EQ(status_name(CL_OUT_OF_RESOURCES), "CL_OUT_OF_RESOURCES");
  EXPECT_EQ(status_name(CL_INVALID_KERNEL_ARGS), "CL_INVALID_KERNEL_ARGS");
  EXPECT_EQ(status_name(-1001), "CL_PLATFORM_NOT_FOUND_KHR");
  EXPECT_EQ(status_name(-9999), "OpenCL error -9999");
}

TEST(OpenclStatus, becomes_an_error_that_names_the_call) {
  EXPECT_TRUE(check(CL_SUCCESS, "clFinish"));
  const auto failed = check(CL_OUT_OF_RESOURCES, "clFinish");
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code.name, errc::device_refused.name);
  EXPECT_EQ(failed.error().message, "clFinish failed with CL_OUT_OF_RESOURCES");
}

}  // namespace
}  // namespace kw::opencl

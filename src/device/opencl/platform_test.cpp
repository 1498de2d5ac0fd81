#include "device/opencl/platform.hpp"

#include <gtest/gtest.h>

#include "device/testing/fake_opencl.hpp"

namespace kw::opencl {
namespace {

TEST(OpenclPlatforms, number_their_devices_through) {
  FakeOpencl driver;
  driver.platforms = {{"Portable Computing Language", {CL_DEVICE_TYPE_CPU}},
                      {"A platform without devices", {}},
                      {"NVIDIA CUDA", {CL_DEVICE_TYPE_GPU, CL_DEVICE_TYPE_ACCELERATOR}}};
  const auto devices = list_devices(driver.api());
  ASSERT_TRUE(devices) << devices.error().to_string();
  ASSERT_EQ(devices->size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ((*devices)[i].facts.id, fmt::format("opencl:{}", i));
  EXPECT_EQ((*devices)[0].facts.kind, DeviceKind::cpu);
  EXPECT_EQ((*devices)[1].facts.kind, DeviceKind::gpu);
  EXPECT_EQ((*devices)[2].facts.kind, DeviceKind::gpu);
}

TEST(OpenclPlatforms, are_known_for_what_they_need) {
  FakeOpencl driver;
  driver.platforms = {{"Portable Computing Language", {CL_DEVICE_TYPE_CPU}},
                      {"Oclgrind", {CL_DEVICE_TYPE_CPU}},
                      {"Another", {CL_DEVICE_TYPE_CPU}}};
  const auto devices = list_devices(driver.api());
  ASSERT_TRUE(devices) << devices.error().to_string();
  ASSERT_EQ(devices->size(), 3U);
  EXPECT_TRUE((*devices)[0].pocl);
  EXPECT_FALSE((*devices)[0].tracks_writes);
  EXPECT_FALSE((*devices)[1].pocl);
  EXPECT_TRUE((*devices)[1].tracks_writes);
  EXPECT_FALSE((*devices)[2].pocl);
  EXPECT_FALSE((*devices)[2].tracks_writes);
}

TEST(OpenclPlatforms, tell_facts_and_zero_for_what_a_driver_keeps_to_itself) {
  FakeOpencl driver;
  driver.platforms = {{"NVIDIA CUDA", {CL_DEVICE_TYPE_GPU}}};
  const auto devices = list_devices(driver.api());
  ASSERT_TRUE(devices) << devices.error().to_string();
  const DeviceFacts& facts = devices->front().facts;
  EXPECT_EQ(facts.target, "opencl");
  EXPECT_EQ(facts.name, "fake device");
  EXPECT_EQ(facts.driver, "NVIDIA CUDA, OpenCL 1.2, driver 7");
  EXPECT_EQ(facts.compute_units, 8);
  EXPECT_EQ(facts.l2_cache_bytes, 4096) << "a GPU's only cache that OpenCL tells of";
  EXPECT_EQ(facts.memory_bytes, 0);
  EXPECT_EQ(facts.vector_floats, 1);
}

TEST(OpenclPlatforms, say_what_to_install_when_there_is_no_device) {
  FakeOpencl driver;
  const auto nothing = list_devices(driver.api());
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().code.name, errc::device_unavailable.name);
  EXPECT_EQ(nothing.error().message, "the OpenCL loader finds no device (CL_PLATFORM_NOT_FOUND_KHR)");
  EXPECT_EQ(nothing.error().hint,
            "apt-get install pocl-opencl-icd for the CPU, or the vendor's OpenCL driver for a GPU");
}

}  // namespace
}  // namespace kw::opencl

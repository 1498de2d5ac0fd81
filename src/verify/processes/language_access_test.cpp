#include "verify/processes/language_access.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "base/testing/scratch_directory.hpp"
#include "verify/processes/worker_spec.hpp"

namespace kw {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Key;
using testing::Not;
using testing::Pair;
using testing::UnorderedElementsAre;

/// Toolkits of both languages, named by the variables that name them.
class TwoToolkits : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* folder : {"cuda", "rocm/bin", "driver"}) fs::create_directories(root() / folder);
    std::ofstream(root() / "driver/libcuda.so.1") << "";
    ::setenv("CUDA_HOME", (root() / "cuda").c_str(), 1);
    ::setenv("KERNELWRIGHT_CUDA_DRIVER", (root() / "driver/libcuda.so.1").c_str(), 1);
    ::setenv("KERNELWRIGHT_HIPCC", (root() / "rocm/bin/hipcc").c_str(), 1);
  }
  void TearDown() override {
    for (const char* name : {"CUDA_HOME", "KERNELWRIGHT_CUDA_DRIVER", "KERNELWRIGHT_HIPCC"}) ::unsetenv(name);
  }
  [[nodiscard]] fs::path root() const { return fs::canonical(directory_.path()); }

  static SandboxSpec build_of(const char* language) { return build_spec({}, find_language(language)->build); }

 private:
  ScratchDirectory directory_;
};

DeviceFacts device_of(const char* target, DeviceKind kind) {
  DeviceFacts facts;
  facts.id = "a device";
  facts.target = target;
  facts.kind = kind;
  return facts;
}

TEST_F(TwoToolkits, each_build_process_gets_that_of_its_language) {
  const SandboxSpec cuda = build_of("cuda");
  EXPECT_THAT(cuda.environment, Contains(Pair("CUDA_HOME", (root() / "cuda").string())));
  EXPECT_THAT(cuda.readable, Contains(root() / "cuda"));
  EXPECT_THAT(cuda.executable, IsEmpty());
  const SandboxSpec hip = build_of("hip");
  EXPECT_THAT(hip.environment, Contains(Key("KERNELWRIGHT_HIPCC")));
  EXPECT_THAT(hip.executable, Contains(root() / "rocm"));
}

TEST_F(TwoToolkits, no_build_process_gets_that_of_another_language) {
  for (const char* language : {"opencl", "hip"}) {
    SCOPED_TRACE(language);
    const SandboxSpec spec = build_of(language);
    EXPECT_THAT(spec.environment, Not(Contains(Key("CUDA_HOME"))));
    EXPECT_THAT(spec.readable, IsEmpty());
    EXPECT_THAT(spec.devices, IsEmpty());
  }
  for (const char* language : {"opencl", "cuda"}) {
    SCOPED_TRACE(language);
    const SandboxSpec spec = build_of(language);
    EXPECT_THAT(spec.environment, Not(Contains(Key("KERNELWRIGHT_HIPCC"))));
    EXPECT_THAT(spec.executable, Not(Contains(root() / "rocm")));
  }
}

TEST_F(TwoToolkits, a_process_for_a_simulated_or_a_test_device_gets_neither) {
  for (const DeviceKind kind : {DeviceKind::simulator, DeviceKind::null_device}) {
    const SandboxSpec spec = build_spec({}, build_grants(device_of("cuda", kind)));
    EXPECT_THAT(spec.environment, IsEmpty());
    EXPECT_THAT(spec.readable, IsEmpty());
    for (const char* folder : {"cuda", "rocm"}) EXPECT_THAT(spec.executable, Not(Contains(root() / folder)));
  }
  EXPECT_THAT(build_spec({}, build_grants(device_of("cuda", DeviceKind::null_device))).executable, IsEmpty());
}

TEST_F(TwoToolkits, a_run_process_gets_the_driver_of_its_language_alone) {
  auto arena = Arena::create();
  ASSERT_TRUE(arena) << arena.error().to_string();
  const SandboxSpec cuda = run_spec({}, device_of("cuda", DeviceKind::gpu), *arena, {1});
  EXPECT_THAT(cuda.environment, Contains(Key("KERNELWRIGHT_CUDA_DRIVER")));
  EXPECT_THAT(cuda.readable, Contains(root() / "driver"));
  const SandboxSpec opencl = run_spec({}, device_of("opencl", DeviceKind::cpu), *arena, {1});
  EXPECT_THAT(opencl.environment, IsEmpty());
  EXPECT_THAT(opencl.readable, IsEmpty());
  EXPECT_THAT(opencl.devices, IsEmpty());
}

TEST_F(TwoToolkits, a_run_process_is_told_how_much_memory_to_have_cleared_unless_a_tool_starts_it) {
  auto arena = Arena::create();
  ASSERT_TRUE(arena) << arena.error().to_string();
  const DeviceFacts device = device_of("cuda", DeviceKind::gpu);
  EXPECT_THAT(run_spec({}, device, *arena, {5, 0}).arguments, testing::ElementsAre("run", device.id));
  EXPECT_THAT(run_spec({}, device, *arena, {5, 3}).arguments, testing::ElementsAre("run", device.id, "3"));
  EXPECT_EQ(run_spec({}, device, *arena, {5, 3}).limits.memory_bytes,
            run_spec({}, device, *arena, {}).limits.memory_bytes + 5);
  BackendOptions watched;
  watched.worker = "/bin/false";
  watched.tool = GpuTool{"/bin/true", {}, {}, {}, false};
  EXPECT_EQ(run_spec(watched, device, *arena, {5, 3}).arguments, run_spec(watched, device, *arena, {5, 0}).arguments);
}

TEST_F(TwoToolkits, a_process_that_asks_for_devices_gets_the_drivers_and_no_compiler) {
  EXPECT_TRUE(describing_needs_more());
  const SandboxSpec spec = describe_spec({});
  EXPECT_THAT(spec.environment, Contains(Key("KERNELWRIGHT_CUDA_DRIVER")));
  EXPECT_THAT(spec.environment, Not(Contains(Key("KERNELWRIGHT_HIPCC"))));
  EXPECT_THAT(spec.executable, IsEmpty());
}

TEST(meant_language, goes_by_the_device_and_without_one_by_the_target) {
  const auto meant = [](std::string device, std::string target) {
    BackendOptions options;
    options.device_id = std::move(device);
    options.target = std::move(target);
    return meant_language(options);
  };
  EXPECT_EQ(meant("", "hip"), find_language("hip"));
  EXPECT_EQ(meant("cuda:0", ""), find_language("cuda"));
  EXPECT_EQ(meant("cuda:0", "opencl"), find_language("cuda"));
  EXPECT_EQ(meant("sim", "cuda"), nullptr);
  EXPECT_EQ(meant("", ""), nullptr);
}

TEST(access_of, lets_through_the_nodes_of_the_driver_and_no_others) {
  const ScratchDirectory directory;
  const fs::path& dev = directory.path();
  fs::create_directory(dev / "nvidia-caps");
  for (const char* name : {"nvidia0", "nvidia12", "nvidiactl", "nvidia-uvm", "nvidia", "nvidiax", "nvme0", "sda",
                           "nvidia-caps/nvidia-cap1"}) {
    std::ofstream(dev / name) << "";
  }
  const LanguageAccess access = access_of(find_language("cuda")->run, dev);
  std::vector<std::string> names;
  for (const auto& device : access.devices) names.push_back(device.filename());
  EXPECT_THAT(names, UnorderedElementsAre("nvidia0", "nvidia12", "nvidiactl", "nvidia-uvm", "nvidia-cap1"));
  EXPECT_THAT(access.environment,
              IsSupersetOf({Pair("CUDA_CACHE_DISABLE", "1"), Pair("CUDA_MODULE_LOADING", "EAGER")}));
  EXPECT_THAT(access.readable, Contains(fs::path("/proc/driver/nvidia")));
}

TEST(access_of, is_empty_where_there_is_no_driver) {
  EXPECT_TRUE(access_of(find_language("cuda")->run, "/nonexistent").empty());
}

}  // namespace
}  // namespace kw

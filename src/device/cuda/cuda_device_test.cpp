// The device over a fake driver (tests/fake_cuda): order of calls, guards, errors that stay, and what is missing.

#include "device/cuda/cuda_device.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "base/random_tensor.hpp"
#include "device/cuda/driver_api.hpp"
#include "device/cuda/toolkit.hpp"

namespace kw {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class CudaDeviceTest : public ::testing::Test {
 protected:
  static constexpr std::size_t k_guard = 64 << 10;
  static constexpr int k_count = 1000;

  void SetUp() override {
    ::setenv(cuda::k_driver_variable, KW_FAKE_CUDA, 1);
    ::unsetenv("KW_FAKE_CUDA");
    library_ = ::dlopen(KW_FAKE_CUDA, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library_, nullptr) << ::dlerror();
    reinterpret_cast<void (*)()>(::dlsym(library_, "fake_cuda_reset"))();
  }
  void TearDown() override {
    ::unsetenv(cuda::k_driver_variable);
    ::unsetenv("KW_FAKE_CUDA");
  }

  [[nodiscard]] std::string calls() const {
    return reinterpret_cast<const char* (*)()>(::dlsym(library_, "fake_cuda_calls"))();
  }
  void forget_calls() const { reinterpret_cast<void (*)()>(::dlsym(library_, "fake_cuda_reset"))(); }

  /// Three buffers of floats between guard zones, all poison.
  void open_with(std::vector<PlannedLaunch> launches) {
    auto opened = open_cuda_device("cuda:0");
    ASSERT_TRUE(opened) << opened.error().to_string();
    device_ = *std::move(opened);
    LoadedPlan plan;
    plan.plan.launches = std::move(launches);
    for (std::size_t i = 0; i < 3; ++i) {
      plan.plan.buffers.push_back({"b" + std::to_string(i), BufferRole::input, DType::f32, 4 * k_count});
      plan.slots.push_back({static_cast<std::int64_t>(offset(i)), 4 * k_count});
    }
    arena_.assign(offset(3), std::byte{0xff});
    LoadRequest request{"cuda:0", static_cast<std::int64_t>(arena_.size()), {"cubin"}, {plan}};
    request.number_kernels = number_kernels_;
    const auto loaded = device_->load(request, arena_);
    ASSERT_TRUE(loaded) << loaded.error().to_string();
    loading_calls_ = calls();
    forget_calls();
  }
  [[nodiscard]] static std::size_t offset(std::size_t buffer) { return k_guard + buffer * (k_guard + 8192); }
  [[nodiscard]] float* floats(std::size_t buffer) { return reinterpret_cast<float*>(&arena_[offset(buffer)]); }

  static PlannedLaunch launch_of(const std::string& kernel, std::vector<KernelArg> args, std::int64_t shared = 0) {
    return {kernel, {8, 1, 1}, {128, 1, 1}, shared, std::move(args)};
  }
  static PlannedLaunch add() { return launch_of("k_add", {BufferArg{0}, BufferArg{1}, BufferArg{2}, IntArg{k_count}}); }

  void* library_ = nullptr;
  std::unique_ptr<Device> device_;
  std::vector<std::byte> arena_;
  std::string loading_calls_;
  std::string number_kernels_;
};

TEST_F(CudaDeviceTest, describes_what_the_driver_says) {
  const auto devices = describe_cuda_devices();
  ASSERT_TRUE(devices) << devices.error().to_string();
  ASSERT_EQ(devices->size(), 1U);
  const DeviceFacts& facts = devices->front();
  EXPECT_EQ(facts.id, "cuda:0");
  EXPECT_EQ(facts.target, "cuda");
  EXPECT_EQ(facts.name, "Fake GPU");
  EXPECT_THAT(facts.driver, HasSubstr("CUDA 13.0"));
  EXPECT_EQ(facts.compute_units, 4);
  EXPECT_EQ(facts.shared_bytes_per_block, 232448);
  EXPECT_EQ(facts.last_level_cache_bytes, 1 << 20);
  EXPECT_DOUBLE_EQ(facts.peak_bytes, 2 * 0.5e9 * 128);
  EXPECT_DOUBLE_EQ(facts.peak_f32_flops, 2e9 * 4 * 128);
  EXPECT_EQ(facts.gpu->arch, "sm_90a");
  EXPECT_DOUBLE_EQ(facts.gpu->peak_f16_flops, 2e9 * 4 * 2048);
}

TEST_F(CudaDeviceTest, a_cold_launch_flushes_then_queues_everything_behind_the_gate) {
  ASSERT_NO_FATAL_FAILURE(open_with({add(), launch_of("k_nothing", {})}));
  for (int i = 0; i < k_count; ++i) {
    floats(0)[i] = static_cast<float>(i);
    floats(1)[i] = 0.5F;
  }
  const auto reply = device_->launch({0, true});
  ASSERT_TRUE(reply) << reply.error().to_string();
  EXPECT_GE(reply->claimed_ns, 200000) << "the kernel spins for 200 us";
  EXPECT_TRUE(reply->queued_ahead);
  for (int i = 0; i < k_count; ++i) ASSERT_EQ(floats(2)[i], static_cast<float>(i) + 0.5F) << i;
  const std::string made = calls();
  const auto flush = made.find("flush:2097152");
  EXPECT_EQ(made.substr(0, flush), "upload reset-l2 ");
  EXPECT_EQ(made.substr(made.find(" sync")), " sync gate event launch:k_add launch:k_nothing event wait sync download");
}

TEST_F(CudaDeviceTest, a_warm_launch_does_not_flush) {
  ASSERT_NO_FATAL_FAILURE(open_with({add()}));
  ASSERT_TRUE(device_->launch({0, false}));
  EXPECT_EQ(calls(), "upload sync gate event launch:k_add event wait sync download");
}

TEST_F(CudaDeviceTest, without_a_gate_launches_are_timed_all_the_same) {
  ::setenv("KW_FAKE_CUDA", "no-gate", 1);
  ASSERT_NO_FATAL_FAILURE(open_with({add()}));
  const auto reply = device_->launch({0, false});
  ASSERT_TRUE(reply) << reply.error().to_string();
  EXPECT_GE(reply->claimed_ns, 200000);
  EXPECT_FALSE(reply->queued_ahead);
  EXPECT_EQ(calls(), "upload sync event launch:k_add event wait sync download");
}

TEST_F(CudaDeviceTest, too_many_launches_for_a_gate_are_timed_from_the_first_one) {
  std::vector<PlannedLaunch> launches = {add()};  // which spins for 200 us, while the others are queued
  launches.resize(257, launch_of("k_nothing", {}));
  ASSERT_NO_FATAL_FAILURE(open_with(launches));
  ::setenv("KW_FAKE_CUDA", "at-once", 1);
  const auto reply = device_->launch({0, false});
  ASSERT_TRUE(reply) << reply.error().to_string();
  EXPECT_FALSE(reply->queued_ahead);
  EXPECT_GE(reply->claimed_ns, 200000);
}

TEST_F(CudaDeviceTest, the_arena_is_kept_in_place_for_copies) {
  ASSERT_NO_FATAL_FAILURE(open_with({add()}));
  EXPECT_THAT(loading_calls_, HasSubstr("register:" + std::to_string(arena_.size())));
}

class FilledBuffers : public CudaDeviceTest {
 protected:
  FilledBuffers() { number_kernels_ = "cubin"; }

  static constexpr RandomTensor k_growing{{.rows = DrawRule::RowScales::growing}, 78, 10, 100};
  static constexpr BufferFill k_first{0, BufferFilling::random, 0, {{}, 77}};
  static constexpr BufferFill k_second{1, BufferFilling::random, 0, k_growing};
  static constexpr BufferFill k_sum{2, BufferFilling::pattern, 0x7f0a5a5a};
  [[nodiscard]] static BufferPart all_of(std::int64_t buffer) { return {buffer, 0, std::int64_t{4} * k_count}; }
  [[nodiscard]] static std::vector<float> elements(const BufferFill& fill) {
    std::vector<float> values(k_count);
    fill_random(values, fill.tensor);
    return values;
  }
  /// Why the launch was refused.
  [[nodiscard]] std::string refusal(std::vector<BufferFill> fills, std::vector<BufferPart> returned = {}) {
    const auto reply = device_->launch({0, false, std::move(fills), std::move(returned)});
    return reply ? "it was not" : reply.error().message;
  }
};

TEST_F(FilledBuffers, need_no_pages_of_the_arena) {
  ASSERT_NO_FATAL_FAILURE(open_with({add()}));
  EXPECT_THAT(loading_calls_, testing::Not(HasSubstr("register:")));
}

TEST_F(FilledBuffers, are_drawn_on_the_device_and_their_guard_zones_are_copied) {
  ASSERT_NO_FATAL_FAILURE(open_with({add()}));
  const auto reply = device_->launch({0, true, {k_first, k_second, k_sum}, {all_of(2)}});
  ASSERT_TRUE(reply) << reply.error().to_string();
  EXPECT_TRUE(reply->changed.empty());
  const auto a = elements(k_first);
  const auto b = elements(k_second);
  for (std::size_t i = 0; i < k_count; ++i) ASSERT_EQ(floats(2)[i], a[i] + b[i]) << i;
  EXPECT_EQ(arena_[offset(0)], std::byte{0xff}) << "it stayed on the device";
  const std::string made = calls();
  EXPECT_THAT(made, StartsWith("launch:k_draw_f32 launch:k_draw_f32 flush:4000 upload upload upload upload"
                               " reset-l2 "));
  EXPECT_THAT(made, HasSubstr(" gate event launch:k_add event wait sync download download download download download "
                              "flush:16 launch:k_find_changed_f32 wait download "));
}

/// Of rows of 10 elements.
TEST_F(FilledBuffers, take_the_first_elements_of_rows_from_the_arena) {
  ASSERT_NO_FATAL_FAILURE(open_with({add()}));
  BufferFill second = k_second;
  second.has_firsts = true;
  auto b = elements(second);
  for (std::size_t row = 0; row < k_count / 10; ++row) {
    b[10 * row] = static_cast<float>(row);
    floats(1)[row] = static_cast<float>(row);
  }
  const auto reply = device_->launch({0, false, {k_first, second}, {{1, 40, 80}}});
  ASSERT_TRUE(reply) << reply.error().to_string();
  EXPECT_TRUE(reply->changed.empty());
  const auto a = elements(k_first);
  for (std::size_t i = 0; i < k_count; ++i) ASSERT_EQ(floats(2)[i], a[i] + b[i]) << i;
  EXPECT_TRUE(std::equal(b.begin() + 10, b.begin() + 30, floats(1) + 10));
  EXPECT_THAT(calls(), StartsWith("launch:k_draw_f32 upload sync launch:k_draw_f32 "));
}

TEST_F(FilledBuffers, come_back_in_parts) {
  ASSERT_NO_FATAL_FAILURE(open_with({add()}));
  ASSERT_TRUE(device_->launch({0, false, {k_second}, {{1, 400, 8}, {1, 3996, 4}}}));
  const auto b = elements(k_second);
  EXPECT_EQ(floats(1)[100], b[100]);
  EXPECT_EQ(floats(1)[101], b[101]);
  EXPECT_EQ(floats(1)[999], b[999]);
  EXPECT_EQ(arena_[offset(1) + 408], std::byte{0xff});
}

TEST_F(FilledBuffers, that_a_kernel_changed_are_named) {
  ASSERT_NO_FATAL_FAILURE(open_with({launch_of("k_add", {BufferArg{0}, BufferArg{1}, BufferArg{0}, IntArg{1}})}));
  const auto reply = device_->launch({0, false, {k_first, k_second, k_sum}, {}});
  ASSERT_TRUE(reply) << reply.error().to_string();
  EXPECT_EQ(reply->changed, std::vector<std::int64_t>{0});
}

TEST_F(FilledBuffers, that_are_overrun_show_it_in_the_guard_zone) {
  ASSERT_NO_FATAL_FAILURE(open_with({launch_of("k_overrun", {BufferArg{1}, IntArg{k_count}})}));
  ASSERT_TRUE(device_->launch({0, false, {k_first, k_second, k_sum}, {}}));
  float past = 0;
  std::memcpy(&past, &arena_[offset(1) + 4 * k_count], sizeof past);
  EXPECT_EQ(past, 1.0F);
}

TEST_F(FilledBuffers, tell_how_much_of_them_is_no_answer) {
  ASSERT_NO_FATAL_FAILURE(open_with({launch_of("k_add", {BufferArg{0}, BufferArg{1}, BufferArg{2}, IntArg{900}})}));
  const std::uint32_t nan = 0x7fc00000;
  std::memset(floats(1), 0, std::size_t{4} * k_count);
  std::memcpy(floats(1) + 7, &nan, sizeof nan);
  const auto reply = device_->launch({0, false, {k_first, k_sum}, {{2, 0, 400}}, {2}});
  ASSERT_TRUE(reply) << reply.error().to_string();
  EXPECT_EQ(reply->useless, (std::vector<UselessElements>{{2, 100, 1}}));
  const auto refused = device_->launch({0, false, {k_first, k_sum}, {}, {0}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "buffer 0 was filled with no pattern");
}

TEST_F(FilledBuffers, need_a_buffer_that_is_there_once_and_kernels) {
  ASSERT_NO_FATAL_FAILURE(open_with({add()}));
  EXPECT_EQ(refusal({{3, BufferFilling::random}}), "there is no buffer 3 to fill");
  EXPECT_EQ(refusal({{-1, BufferFilling::pattern, 1}}), "there is no buffer -1 to fill");
  EXPECT_EQ(refusal({{0, BufferFilling::random, 0, {{}, 77, 0, 3}}}),
            "a tensor of 3 rows of 0 elements cannot be drawn");
  EXPECT_EQ(refusal({{0, BufferFilling::random, 0, {{}, 77, 7, 1}, true}}),
            "1000 elements are not rows of 7, of which each has a first one");
  EXPECT_EQ(refusal({k_first, k_first}), "buffer 0 is to be filled twice");
  EXPECT_EQ(refusal({k_first}, {{0, 3996, 8}}), "8 bytes from 3996 of buffer 0 cannot be brought back");
  EXPECT_EQ(refusal({k_first}, {{1, 0, 4}}), "4 bytes from 0 of buffer 1 cannot be brought back");
  EXPECT_EQ(refusal({k_first}, {{0, -4, 4}}), "4 bytes from -4 of buffer 0 cannot be brought back");
  number_kernels_.clear();
  ASSERT_NO_FATAL_FAILURE(open_with({add()}));
  EXPECT_EQ(refusal({k_first}), "no kernel was loaded for numbers of type f32");
  EXPECT_EQ(refusal({k_sum}), "it was not");
}

TEST_F(CudaDeviceTest, a_driver_that_does_not_keep_pages_in_place_copies_all_the_same) {
  ::setenv("KW_FAKE_CUDA", "no-pages", 1);
  ASSERT_NO_FATAL_FAILURE(open_with({add()}));
  floats(0)[0] = 1.0F;
  floats(1)[0] = 2.0F;
  ASSERT_TRUE(device_->launch({0, false}));
  EXPECT_EQ(floats(2)[0], 3.0F);
}

TEST_F(CudaDeviceTest, writing_past_a_buffer_shows_in_the_hosts_guard_zone) {
  ASSERT_NO_FATAL_FAILURE(open_with({launch_of("k_overrun", {BufferArg{2}, IntArg{k_count}})}));
  ASSERT_TRUE(device_->launch({0, false}));
  float past = 0;
  std::memcpy(&past, &arena_[offset(2) + 4 * k_count], sizeof past);
  EXPECT_EQ(past, 1.0F);
  EXPECT_EQ(arena_[offset(2) - 1], std::byte{0xff});
}

TEST_F(CudaDeviceTest, outputs_are_poison_until_a_kernel_writes_them) {
  ASSERT_NO_FATAL_FAILURE(open_with({launch_of("k_nothing", {})}));
  ASSERT_TRUE(device_->launch({0, true}));
  EXPECT_EQ(arena_[offset(2)], std::byte{0xff});
}

TEST_F(CudaDeviceTest, an_error_that_stays_retires_the_device) {
  ASSERT_NO_FATAL_FAILURE(open_with({launch_of("k_fault", {})}));
  const auto first = device_->launch({0, false});
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().code, errc::device_refused);
  EXPECT_EQ(first.error().message,
            "running k_fault failed with CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was encountered)");
  const auto second = device_->launch({0, false});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().message, "the GPU's context was lost by an earlier launch: " + first.error().message);
}

TEST_F(CudaDeviceTest, a_launch_that_is_refused_does_not_wait_behind_its_own_gate) {
  PlannedLaunch wide = launch_of("k_nothing", {});
  wide.block[0] = 2048;
  ASSERT_NO_FATAL_FAILURE(open_with({wide}));
  for (int i = 0; i < 2; ++i) {
    const auto reply = device_->launch({0, false});
    ASSERT_FALSE(reply);
    EXPECT_THAT(reply.error().message, HasSubstr("cuLaunchKernel(k_nothing) failed with CUDA_ERROR_OTHER"));
  }
}

TEST_F(CudaDeviceTest, much_dynamic_shared_memory_is_asked_for) {
  ASSERT_NO_FATAL_FAILURE(open_with({launch_of("k_nothing", {}, 200000)}));
  EXPECT_TRUE(device_->launch({0, false}));
}

TEST_F(CudaDeviceTest, more_shared_memory_than_there_is_is_refused_at_loading) {
  auto opened = open_cuda_device("cuda:0");
  ASSERT_TRUE(opened);
  LoadedPlan plan;
  plan.plan.launches = {launch_of("k_nothing", {}, 232000)};
  const auto loaded = (*opened)->load({"cuda:0", 0, {"cubin"}, {plan}}, {});
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().message,
            "kernel 'k_nothing' needs 233024 bytes of shared memory, the device has 232448 per block");
}

TEST_F(CudaDeviceTest, a_clock_that_runs_ahead_of_the_hosts_is_refused) {
  ASSERT_NO_FATAL_FAILURE(open_with({add()}));
  ::setenv("KW_FAKE_CUDA", "fast-clock", 1);
  const auto reply = device_->launch({0, false});
  ASSERT_FALSE(reply);
  EXPECT_THAT(reply.error().message, AllOf(HasSubstr("the device's clock says"), HasSubstr("one of them is wrong")));
}

TEST_F(CudaDeviceTest, a_kernel_that_is_not_there_and_a_plan_that_is_not_there_are_refused) {
  auto opened = open_cuda_device("cuda:0");
  ASSERT_TRUE(opened);
  LoadedPlan plan;
  plan.plan.launches = {launch_of("other", {})};
  const auto loaded = (*opened)->load({"cuda:0", 0, {"cubin"}, {plan}}, {});
  ASSERT_FALSE(loaded);
  EXPECT_THAT(loaded.error().message, HasSubstr("cuModuleGetFunction(other) failed with"));
  const auto launched = (*opened)->launch({3, false});
  ASSERT_FALSE(launched);
  EXPECT_EQ(launched.error().message, "there is no plan 3");
}

TEST_F(CudaDeviceTest, a_device_that_is_not_there_is_named) {
  const auto opened = open_cuda_device("cuda:7");
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, errc::device_unavailable);
  EXPECT_EQ(opened.error().message, "there is no device 'cuda:7'; the driver has 1");
}

void expect_no_devices(const char* mode, const std::string& part) {
  ::setenv("KW_FAKE_CUDA", mode, 1);
  const auto devices = describe_cuda_devices();
  ASSERT_FALSE(devices);
  EXPECT_EQ(devices.error().code, errc::device_unavailable);
  EXPECT_THAT(devices.error().message, HasSubstr(part));
}

TEST_F(CudaDeviceTest, why_there_is_no_gpu_is_said) {
  expect_no_devices("no-gpu", "the NVIDIA driver has no GPU that can be used: none at all");
  expect_no_devices("old-gpu", "a GPU of compute capability 5.0 is too old or too new");
  expect_no_devices("broken", "the NVIDIA driver does not start: CUDA_ERROR_OPERATING_SYSTEM");
}

TEST(CudaDriverMissing, says_how_to_get_it) {
  const auto api = cuda::load_driver("libnosuch_cuda.so.1");
  ASSERT_FALSE(api);
  EXPECT_EQ(api.error().code, errc::device_unavailable);
  EXPECT_THAT(api.error().message, AllOf(HasSubstr("the NVIDIA driver cannot be loaded"), HasSubstr("libnosuch_cuda")));
  EXPECT_THAT(api.error().hint, HasSubstr("install NVIDIA's driver for the GPU"));
}

TEST(CudaDriverMissing, a_library_that_is_something_else_is_told_from_an_absent_one) {
  const auto api = cuda::load_driver("libc.so.6");
  ASSERT_FALSE(api);
  EXPECT_EQ(api.error().message, "the NVIDIA driver (libc.so.6) lacks cuInit");
}

}  // namespace
}  // namespace kw

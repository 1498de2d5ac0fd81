// The whole path of a CUDA candidate: the real compiler in a sandboxed build process, then a sandboxed run process over
// a driver that is none (tests/fake_cuda), which knows kernels by name.

#include <cstdlib>

#include "base/normal.hpp"
#include "hardware/device_file.hpp"
#include "language/language.hpp"
#include "verify/build_workloads.hpp"
#include "verify/testing/backend_fixture.hpp"

namespace kw {
namespace {

using namespace backend_test;  // NOLINT: a test's own vocabulary
using testing::AllOf;
using testing::HasSubstr;

bool compiler_installed() {
  const auto reply = describe_compiler(*find_language("cuda"));
  return reply && !reply->devices.empty();
}

class CudaBackend : public BackendTest {
 protected:
  static void SetUpTestSuite() {
    ::setenv("KERNELWRIGHT_CUDA_DRIVER", KW_FAKE_CUDA, 1);
    open("cuda:0");
  }
  static void TearDownTestSuite() {
    ::unsetenv("KERNELWRIGHT_CUDA_DRIVER");
    BackendTest::TearDownTestSuite();
  }
  void SetUp() override {
    ASSERT_NE(backend_, nullptr);
    if (!compiler_installed()) GTEST_SKIP() << "SKIP: NVRTC is not installed (the CUDA toolkit has it)";
  }
};

const char* const k_add = R"(extern "C" __global__ void k_add(const float* a, const float* b, float* sum, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) sum[i] = a[i] + b[i];
}
)";

/// What fills "sum" with "a" + "b", each of `count` elements.
LaunchPlan plan_of_sum(int count) {
  return plan_with(
      {input("a", 4 * count), input("b", 4 * count), output("sum", 4 * count)},
      {launch_of("k_add", (count + 127) / 128, 128, {BufferArg{0}, BufferArg{1}, BufferArg{2}, IntArg{count}})});
}

TEST_F(CudaBackend, each_start_takes_one_of_several_processes_in_reserve_that_has_room) {
  BackendOptions options;
  options.device_id = "cuda:0";
  options.gpu_reserve = 3;
  auto backend = open_process_backend(options);
  ASSERT_TRUE(backend) << backend.error().to_string();
  for (int i = 0; i < 5; ++i) (*backend)->prepare();
  for (const int count : {1000, 30 << 20, 500}) {
    StartRequest request;
    request.plans.push_back({plan_of_sum(count), 0});
    request.binaries = {build(k_add, request.plans.front().plan.launches).binary};
    auto started = (*backend)->start(request, k_ample);
    auto* process = std::get_if<std::unique_ptr<KernelProcess>>(&started);
    ASSERT_NE(process, nullptr) << count;
    floats((*process)->buffer(0)).back() = 1.0F;
    floats((*process)->buffer(1)).back() = 2.0F;
    ASSERT_EQ(fate((*process)->launch(false, k_ample)), "ran");
    EXPECT_EQ(floats((*process)->buffer(2)).back(), 3.0F);
  }
}

TEST_F(CudaBackend, a_process_gets_the_memory_of_one_that_has_ended) {
  BackendOptions options;
  options.device_id = "cuda:0";
  auto backend = open_process_backend(options);
  ASSERT_TRUE(backend) << backend.error().to_string();
  constexpr int k_count = 1 << 20;
  const auto start_one = [&](int count) {
    StartRequest request;
    request.plans.push_back({plan_of_sum(count), 0});
    request.binaries = {build(k_add, request.plans.front().plan.launches).binary};
    auto started = (*backend)->start(request, k_ample);
    auto* process = std::get_if<std::unique_ptr<KernelProcess>>(&started);
    return process == nullptr ? nullptr : std::move(*process);
  };
  const auto mapped = [&](KernelProcess& process) { return process.buffer(0).data(); };
  auto first = start_one(k_count);
  ASSERT_NE(first, nullptr);
  auto second = start_one(k_count);
  ASSERT_NE(second, nullptr);
  EXPECT_NE(mapped(*second), mapped(*first)) << "it is in use";
  const std::byte* const memory = mapped(*first);
  std::ranges::fill(first->guards()[0], std::byte{0});
  first.reset();
  ASSERT_NE(start_one(k_count), nullptr) << "the one that was in reserve then";
  auto third = start_one(k_count + 1000);  // a little more has room too
  ASSERT_NE(third, nullptr);
  EXPECT_EQ(mapped(*third), memory);
  for (const auto& guard : third->guards()) EXPECT_TRUE(all_poison(guard));
  floats(third->buffer(0)).back() = 1.0F;
  floats(third->buffer(1)).back() = 2.0F;
  ASSERT_EQ(fate(third->launch(false, k_ample)), "ran");
  EXPECT_EQ(floats(third->buffer(2)).back(), 3.0F);
}

TEST_F(CudaBackend, fills_buffers_on_the_device) {
  constexpr int k_count = k_least_filled_bytes / 4;
  EXPECT_FALSE(start(k_add, {plan_of_sum(k_count - 1)})->fills_buffers()) << "it is not worth loading kernels";
  auto process = start(k_add, {plan_of_sum(k_count)});
  ASSERT_NE(process, nullptr);
  ASSERT_TRUE(process->fills_buffers());
  std::ranges::fill(floats(process->buffer(0)), 0.0F);
  const LaunchFilling filling{{{0, BufferFilling::random, 0, {{}, 5}}, {2, BufferFilling::pattern, 0}},
                              {{2, 0, 4 * k_count}}};
  std::ranges::fill(floats(process->buffer(1)), 1.0F);
  const auto ran = process->launch_filled(filling, false, k_ample);
  ASSERT_EQ(fate(ran), "ran");
  EXPECT_TRUE(std::get<LaunchOutcome>(ran).changed.empty());
  std::vector<float> numbers(k_count);
  fill_normal(numbers, 5);
  for (std::size_t i = 0; i < k_count; ++i) ASSERT_EQ(floats(process->buffer(2))[i], numbers[i] + 1.0F) << i;
  EXPECT_EQ(floats(process->buffer(0))[7], 0.0F) << "what the device drew is not copied";
  for (const auto& guard : process->guards()) EXPECT_TRUE(all_poison(guard));
}

TEST_F(CudaBackend, compiles_without_the_driver_and_runs_with_it) {
  EXPECT_EQ(backend_->device().name, "Fake GPU");
  constexpr int k_count = 1000;
  auto process = start(k_add, {plan_of_sum(k_count)});
  ASSERT_NE(process, nullptr);
  for (std::size_t i = 0; i < k_count; ++i) {
    floats(process->buffer(0))[i] = static_cast<float>(i);
    floats(process->buffer(1))[i] = 2.0F;
  }
  for (const bool cold : {false, true}) {
    const auto ran = process->launch(cold, k_ample);
    ASSERT_EQ(fate(ran), "ran");
    EXPECT_GT(std::get<LaunchOutcome>(ran).claimed_ns, 0);
    EXPECT_LE(std::get<LaunchOutcome>(ran).claimed_ns, std::get<LaunchOutcome>(ran).observed_ns);
  }
  for (std::size_t i = 0; i < k_count; ++i) ASSERT_EQ(floats(process->buffer(2))[i], static_cast<float>(i) + 2.0F);
  for (const auto& guard : process->guards()) EXPECT_TRUE(all_poison(guard));
}

TEST_F(CudaBackend, the_hosts_guard_zones_show_what_a_kernel_did_on_the_device) {
  const LaunchPlan plan = plan_with({output("O", 400)}, {launch_of("k_overrun", 1, 128, {BufferArg{0}, IntArg{100}})});
  auto process = start("extern \"C\" __global__ void k_overrun(float* o, int n) { o[n] = 1; }", {plan});
  ASSERT_NE(process, nullptr);
  ASSERT_EQ(fate(process->launch(false, k_ample)), "ran");
  EXPECT_TRUE(all_poison(process->guards()[0]));
  EXPECT_FALSE(all_poison(process->guards()[1]));
}

TEST_F(CudaBackend, an_error_on_the_device_is_told_and_stays) {
  auto process = start("extern \"C\" __global__ void k_fault() {}", {plan_with({}, {launch_of("k_fault", 1, 1, {})})});
  ASSERT_NE(process, nullptr);
  EXPECT_THAT(fate(process->launch(false, k_ample)), HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS"));
  EXPECT_THAT(fate(process->launch(false, k_ample)), HasSubstr("the GPU's context was lost"));
}

TEST_F(CudaBackend, a_build_reports_what_the_compiler_says) {
  const BuildReply reply =
      build(k_add, {launch_of("k_add", 8, 128, {BufferArg{0}, BufferArg{1}, BufferArg{2}, IntArg{1}})});
  ASSERT_EQ(reply.status, BuildStatus::ok) << reply.log;
  ASSERT_EQ(reply.kernels.size(), 1U);
  EXPECT_GT(reply.registers, 0);
  EXPECT_EQ(reply.kernels[0].occupancy, 1.0);
}

TEST(BuildBackend, compiles_for_a_gpu_that_is_not_here_and_starts_nothing) {
  if (!compiler_installed()) GTEST_SKIP() << "SKIP: NVRTC is not installed (the CUDA toolkit has it)";
  auto facts = find_device_facts("h200");
  ASSERT_TRUE(facts);
  auto backend = open_build_backend({}, *std::move(facts));
  ASSERT_TRUE(backend) << backend.error().to_string();
  EXPECT_EQ((*backend)->device().id, "h200");
  const LaunchPlan plan =
      plan_with({input("a", 64)}, {launch_of("k_add", 1, 64, {BufferArg{0}, BufferArg{0}, BufferArg{0}, IntArg{16}})});
  const auto answer = (*backend)->build({"", k_add, {}, plan.launches}, k_ample, SourceOrigin::foreign);
  const auto* built = std::get_if<BuildReply>(&answer);
  ASSERT_NE(built, nullptr);
  EXPECT_EQ(built->status, BuildStatus::ok) << built->log;
  const auto started = (*backend)->start({{built->binary}, {{plan, 0}}}, k_ample);
  EXPECT_FALSE(std::holds_alternative<std::unique_ptr<KernelProcess>>(started));
}

TEST(DescribeCompiler, finds_nvrtc_or_says_how_to_get_it) {
  ::setenv("KERNELWRIGHT_NVRTC", "/nonexistent/libnvrtc.so.13", 1);
  const auto reply = describe_compiler(*find_language("cuda"));
  ::unsetenv("KERNELWRIGHT_NVRTC");
  ASSERT_TRUE(reply) << reply.error().to_string();
  EXPECT_TRUE(reply->devices.empty());
  EXPECT_THAT(reply->problem, AllOf(HasSubstr("NVRTC, the CUDA compiler, cannot be loaded"),
                                    HasSubstr("install the CUDA toolkit 12 or 13")));
}

}  // namespace
}  // namespace kw

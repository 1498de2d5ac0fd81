// The whole path of a candidate over a real OpenCL driver: what goes wrong does so in real kernels.

#include <dirent.h>

#include <cstring>

#include "verify/testing/backend_fixture.hpp"
#include "verify/testing/build_workers.hpp"
#include "verify/testing/mapped_files.hpp"

namespace kw {
namespace {

using namespace backend_test;  // NOLINT: a test's own vocabulary
using testing::HasSubstr;
using testing::StartsWith;

/// A driver is announced to the loader: then a device has to be there, and skipping would hide that it is not.
bool driver_installed() {
  DIR* directory = ::opendir("/etc/OpenCL/vendors");
  if (directory == nullptr) return false;
  bool found = false;
  while (const dirent* entry = ::readdir(directory)) found = found || std::string_view(entry->d_name).ends_with(".icd");
  ::closedir(directory);
  return found;
}

class OpenclBackend : public BackendTest {
 protected:
  static void SetUpTestSuite() {
    if (driver_installed()) open("opencl:0");
  }
  void SetUp() override {
    if (!driver_installed()) GTEST_SKIP() << "SKIP: no OpenCL driver is installed (apt-get install pocl-opencl-icd)";
    ASSERT_NE(backend_, nullptr);
  }
};

const char* const k_add = R"(
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void k(__global const float* a, __global const float* b, __global float* sum, int n) {
  const int i = get_global_id(0);
  if (i < n) sum[i] = a[i] + SCALE * b[i];
}
)";

TEST_F(OpenclBackend, describes_a_device_one_can_plan_for) {
  const DeviceFacts& device = backend_->device();
  EXPECT_EQ(device.id, "opencl:0");
  EXPECT_EQ(device.target, "opencl");
  EXPECT_FALSE(device.name.empty());
  EXPECT_GT(device.max_block_items, 0);
  EXPECT_GT(device.shared_bytes_per_block, 0);
  EXPECT_GT(device.memory_bytes, 0);
  EXPECT_GT(device.last_level_cache_bytes, 0);
}

TEST_F(OpenclBackend, adds_vectors_from_source_to_result) {
  constexpr int k_count = 1000;
  const std::int64_t bytes = k_count * 4;
  const LaunchPlan plan =
      plan_with({input("a", bytes), input("b", bytes), output("sum", bytes)},
                {launch_of("k", 16, 64, {BufferArg{0}, BufferArg{1}, BufferArg{2}, IntArg{k_count}})});
  BuildRequest request{"", k_add, {{"SCALE", 3}}, plan.launches};
  const auto answer = backend_->build(request, k_ample, SourceOrigin::foreign);
  const auto* built = std::get_if<BuildReply>(&answer);
  ASSERT_NE(built, nullptr);
  ASSERT_EQ(built->status, BuildStatus::ok) << built->log;
  auto started = backend_->start({{built->binary}, {{plan, 0}}}, k_ample);
  auto* process = std::get_if<std::unique_ptr<KernelProcess>>(&started);
  ASSERT_NE(process, nullptr);
  for (int i = 0; i < k_count; ++i) {
    floats((*process)->buffer(0))[static_cast<std::size_t>(i)] = static_cast<float>(i);
    floats((*process)->buffer(1))[static_cast<std::size_t>(i)] = 2.0F;
  }
  for (const bool cold : {false, true}) {
    const auto ran = (*process)->launch(cold, k_ample);
    ASSERT_EQ(fate(ran), "ran");
    EXPECT_GT(std::get<LaunchOutcome>(ran).claimed_ns, 0);
    EXPECT_LE(std::get<LaunchOutcome>(ran).claimed_ns, std::get<LaunchOutcome>(ran).observed_ns);
  }
  for (int i = 0; i < k_count; ++i) {
    ASSERT_EQ(floats((*process)->buffer(2))[static_cast<std::size_t>(i)], static_cast<float>(i) + 6.0F) << i;
  }
  for (const auto& guard : (*process)->guards()) EXPECT_TRUE(all_poison(guard));
}

TEST_F(OpenclBackend, the_same_source_built_twice_runs_both_times) {
  const LaunchPlan plan = plan_with({input("a", 256), input("b", 256), output("sum", 256)},
                                    {launch_of("k", 1, 64, {BufferArg{0}, BufferArg{1}, BufferArg{2}, IntArg{64}})});
  for (int i = 0; i < 2; ++i) {
    const auto answer = backend_->build({"", k_add, {{"SCALE", 5}}, plan.launches}, k_ample, SourceOrigin::foreign);
    const auto* built = std::get_if<BuildReply>(&answer);
    ASSERT_NE(built, nullptr);
    auto started = backend_->start({{built->binary}, {{plan, 0}}}, k_ample);
    auto* process = std::get_if<std::unique_ptr<KernelProcess>>(&started);
    ASSERT_NE(process, nullptr);
    EXPECT_EQ(fate((*process)->launch(false, k_ample)), "ran") << "build " << i;
  }
}

TEST_F(OpenclBackend, shared_memory_barriers_and_several_launches_work) {
  const char* source = R"(
    __kernel void square(__global const float* x, __global float* y) { y[get_global_id(0)] = x[get_global_id(0)] * x[get_global_id(0)]; }
    __kernel void k(__global const float* y, __global float* sum, __local float* part) {
      const int i = get_local_id(0);
      part[i] = y[get_global_id(0)];
      for (int step = get_local_size(0) / 2; step > 0; step /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (i < step) part[i] += part[i + step];
      }
      if (i == 0) sum[get_group_id(0)] = part[0];
    })";
  PlannedLaunch reduce = launch_of("k", 4, 32, {BufferArg{1}, BufferArg{2}, SharedArg{}});
  reduce.shared_bytes = 32 * 4;
  const PlannedLaunch square = launch_of("square", 8, 16, {BufferArg{0}, BufferArg{1}});
  auto process = start(
      source,
      {plan_with({input("x", 512), {"y", BufferRole::scratch, DType::f32, 512}, output("sum", 16)}, {square, reduce})});
  ASSERT_NE(process, nullptr);
  std::ranges::fill(floats(process->buffer(0)), 2.0F);
  ASSERT_EQ(fate(process->launch(false, k_ample)), "ran");
  EXPECT_THAT(floats(process->buffer(2)), testing::Each(128.0F));
}

TEST_F(OpenclBackend, a_write_past_the_end_shows_in_the_guards) {
  auto process = start("__kernel void k(__global float* o) { o[16] = 1.0f; }",
                       {plan_with({output("O", 64)}, {launch_of("k", 1, 1, {BufferArg{0}})})});
  ASSERT_NE(process, nullptr);
  ASSERT_EQ(fate(process->launch(false, k_ample)), "ran");
  EXPECT_TRUE(all_poison(process->guards()[0]));
  EXPECT_FALSE(all_poison(process->guards()[1]));
}

TEST_F(OpenclBackend, a_compile_error_comes_back_with_its_line) {
  const BuildReply reply =
      build("__kernel void k(__global float* o) {\n  o[0] = undeclared;\n}\n", {launch_of("k", 1, 1, {BufferArg{0}})});
  EXPECT_EQ(reply.status, BuildStatus::source_error);
  EXPECT_THAT(reply.log, HasSubstr("kernel.cl:2:10: use of undeclared identifier 'undeclared'"));
}

TEST_F(OpenclBackend, kernels_that_do_not_fit_their_launches_are_explained) {
  const std::string source =
      "__kernel __attribute__((reqd_work_group_size(8, 1, 1)))\nvoid k(__global float* o, int n) {}";
  const auto refusal = [&](std::vector<KernelArg> args, const std::string& name, std::int64_t block) {
    const BuildReply reply = build(source, {launch_of(name, 1, block, std::move(args))});
    EXPECT_NE(reply.status, BuildStatus::ok);
    return fmt::format("{}: {}", static_cast<int>(reply.status), reply.log);
  };
  EXPECT_EQ(refusal({BufferArg{0}, IntArg{1}}, "other", 8),
            "3: a launch names the kernel 'other', but the source has: k");
  EXPECT_EQ(refusal({BufferArg{0}}, "k", 8),
            "4: kernel 'k' takes 2 arguments but the launch passes 1: make the launch's args match the kernel's "
            "parameters");
  EXPECT_EQ(refusal({BufferArg{0}, BufferArg{0}}, "k", 8),
            "4: argument 2 of kernel 'k' is declared as `int n`, but the launch passes a buffer there: declare it as a "
            "__global (or __constant) pointer, or change the launch's args");
  EXPECT_EQ(
      refusal({BufferArg{0}, IntArg{1}}, "k", 4),
      "5: kernel 'k' declares reqd_work_group_size(8, 1, 1) but the launch's block is 4 x 1 x 1: make them equal");
}

TEST_F(OpenclBackend, a_definition_cannot_smuggle_in_an_option) {
  const auto answer =
      backend_->build({"", "__kernel void k() {}", {{"X -I/etc -DY", 1}}, {}}, k_ample, SourceOrigin::foreign);
  const auto* reply = std::get_if<BuildReply>(&answer);
  ASSERT_NE(reply, nullptr);
  EXPECT_EQ(reply->status, BuildStatus::source_error);
  EXPECT_EQ(reply->log, "a definition's name is not an identifier");
}

TEST_F(OpenclBackend, an_endless_kernel_is_killed_at_its_deadline) {
  EXPECT_EQ(
      fate_of("__kernel void k(__global float* q, __global volatile float* o) { while (o[0] != 1.0f) o[1] += 1.0f; }",
              milliseconds(500)),
      "timed out: no answer within 0.5 s; killed");
}

TEST_F(OpenclBackend, a_null_pointer_costs_the_process_only) {
  EXPECT_THAT(fate_of("__kernel void k(__global float* q, __global float* o) { *(volatile __global float*)(o[0] != 0 ? "
                      "0 : 8) = 1; }"),
              StartsWith("crashed: killed by signal 11 (SIGSEGV)"));
  EXPECT_EQ(fate_of("__kernel void k(__global float* q, __global float* o) { o[0] = 1; }"), "ran");
}

/// A kernel that makes system call `number` on /bin/true and stores what it returned.
std::string syscall_kernel(long number) {
  return fmt::format(R"(
    __kernel void k(__global long* q, __global long* o) {{
      char path[10] = "/bin/true";
      long result;
      __asm__ volatile("syscall" : "=a"(result) : "a"({}L), "D"(path), "S"(0L), "d"(0L) : "rcx", "r11", "memory");
      o[0] = result;
    }})",
                     number);
}

TEST_F(OpenclBackend, a_kernel_that_makes_system_calls_is_stopped) {
#if defined(__x86_64__)
  constexpr long k_execve = 59;
  constexpr long k_socket = 41;
  for (const long number : {k_execve, k_socket}) {
    SCOPED_TRACE(number);
    auto process =
        start(syscall_kernel(number),
              {plan_with({input("Q", 64), output("O", 64)}, {launch_of("k", 1, 1, {BufferArg{0}, BufferArg{1}})})},
              Inspection::left_out);
    ASSERT_NE(process, nullptr);
    const std::string end = fate(process->launch(false, k_ample));
    std::int64_t result = 0;
    std::memcpy(&result, process->buffer(1).data(), sizeof result);
    EXPECT_TRUE((end == "ran" && result < 0) || end.starts_with("crashed: killed by signal 31"))
        << end << ", result " << result;
  }
#else
  GTEST_SKIP() << "SKIP: the kernel is written for x86-64";
#endif
}

TEST_F(OpenclBackend, what_a_build_let_through_is_refused_where_it_would_be_loaded) {
#if defined(__x86_64__)
  const LaunchPlan plan =
      plan_with({input("Q", 64), output("O", 64)}, {launch_of("k", 1, 1, {BufferArg{0}, BufferArg{1}})});
  constexpr const char* k_fault = "holds an instruction that kernels may not use: syscall at 0x";
  const BuildReply refused = build(syscall_kernel(0), plan.launches);
  EXPECT_EQ(refused.status, BuildStatus::forbidden);
  EXPECT_THAT(refused.log, HasSubstr(std::string("what the compiler made of kernel k ") + k_fault));
  const BuildReply built = build(syscall_kernel(0), plan.launches, Inspection::left_out);
  auto answer = backend_->start({{built.binary}, {{plan, 0}}}, k_ample);
  ASSERT_NE(std::get_if<LaunchFailure>(&answer), nullptr);
  EXPECT_THAT(std::get<LaunchFailure>(answer).what, HasSubstr(k_fault));
#else
  GTEST_SKIP() << "SKIP: the kernel is written for x86-64";
#endif
}

TEST_F(OpenclBackend, what_a_library_would_run_when_loaded_does_not_run_in_the_builder) {
#if defined(__x86_64__)
  const std::string source = R"(
    __kernel void k(__global float* q, __global float* o) {
      __asm__ volatile(".pushsection .init_array, \"aw\", @init_array\n .quad 1f\n .popsection\n jmp 2f\n1: ud2\n2:\n");
      o[0] = q[0];
    })";
  const std::vector<PlannedLaunch> launches{launch_of("k", 1, 1, {BufferArg{0}, BufferArg{1}})};
  const BuildReply refused = build(source, launches);
  EXPECT_EQ(refused.status, BuildStatus::forbidden);
  EXPECT_THAT(refused.log, HasSubstr("has a function that runs when it is loaded or unloaded"));
#else
  GTEST_SKIP() << "SKIP: the kernel is written for x86-64";
#endif
}

#if !defined(KW_SANITIZED)  // whose own memory has no limit
TEST_F(OpenclBackend, a_source_that_grows_in_the_compiler_ends_the_builder_by_memory_before_time) {
  BackendOptions options;
  options.device_id = "opencl:0";
  options.limits.memory_bytes = std::int64_t{1} << 30;
  const auto opened = open_process_backend(options);
  ASSERT_TRUE(opened) << opened.error().to_string();
  std::string source = "#define N0 1,\n";
  for (int i = 1; i <= 25; ++i) source += fmt::format("#define N{} N{} N{}\n", i, i - 1, i - 1);
  source += "constant int numbers[] = {N25};\n__kernel void k(__global int* o) { o[0] = numbers[o[1]]; }\n";
  BuildRequest request{"opencl:0", source, {}, {launch_of("k", 1, 1, {BufferArg{0}})}};
  const auto answer = (*opened)->build(request, k_ample, SourceOrigin::foreign);
  const auto* lost = std::get_if<LostWorker>(&answer);
  ASSERT_NE(lost, nullptr);
  EXPECT_EQ(lost->how, WorkerLoss::out_of_memory) << lost->detail;
  request.source = "__kernel void k(__global int* o) { o[0] = 1; }";
  const auto next = (*opened)->build(request, k_ample, SourceOrigin::foreign);
  ASSERT_NE(std::get_if<BuildReply>(&next), nullptr) << "the builder is replaced";
  EXPECT_EQ(std::get<BuildReply>(next).status, BuildStatus::ok);
}
#endif

TEST_F(OpenclBackend, a_builder_whose_kernel_is_forbidden_is_replaced) {
#if defined(__x86_64__)
  const LaunchPlan plan =
      plan_with({input("Q", 64), output("O", 64)}, {launch_of("k", 1, 1, {BufferArg{0}, BufferArg{1}})});
  const char* honest = "__kernel void k(__global float* q, __global float* o) { o[0] = q[0]; }";
  ASSERT_EQ(build(honest, plan.launches).status, BuildStatus::ok);
  const auto kept = build_workers();
  ASSERT_EQ(build(honest, plan.launches).status, BuildStatus::ok);
  EXPECT_EQ(build_workers(), kept);
  ASSERT_EQ(build(syscall_kernel(0), plan.launches).status, BuildStatus::forbidden);
  ASSERT_EQ(build(honest, plan.launches).status, BuildStatus::ok);
  const auto replaced = build_workers();
  EXPECT_NE(replaced, kept) << "it was told by the builder";
  const BuildReply built = build(syscall_kernel(0), plan.launches, Inspection::left_out);
  auto answer = backend_->start({{built.binary}, {{plan, 0}}}, k_ample);
  ASSERT_NE(std::get_if<LaunchFailure>(&answer), nullptr);
  ASSERT_EQ(build(honest, plan.launches).status, BuildStatus::ok);
  EXPECT_NE(build_workers(), replaced) << "it was told by who would have loaded it";
#else
  GTEST_SKIP() << "SKIP: the kernel is written for x86-64";
#endif
}

TEST_F(OpenclBackend, a_forked_kernel_process_dies_with_its_parent) {
#if defined(__x86_64__)
  const std::string source = R"(
    __kernel void k(__global float* q, __global float* o) {
      long result;
      __asm__ volatile("syscall" : "=a"(result) : "a"(57L) : "rcx", "r11", "memory");
      if (result == 0) for (;;) ((volatile __global float*)o)[1] += 1.0f;
    })";
  auto process = start(
      source, {plan_with({input("Q", 64), output("O", 64)}, {launch_of("k", 1, 1, {BufferArg{0}, BufferArg{1}})})},
      Inspection::left_out);
  ASSERT_NE(process, nullptr);
  const std::string arena = mapped_file_at(process->buffer(0).data());
  const std::string end = fate(process->launch(false, seconds(2)));
  EXPECT_TRUE(end == "ran" || end.starts_with("timed out")) << end;
  process.reset();
  EXPECT_EQ(processes_mapping(arena), 0);
#else
  GTEST_SKIP() << "SKIP: the kernel is written for x86-64";
#endif
}

}  // namespace
}  // namespace kw

// The whole path of a candidate: workbench, protocol, sandbox, worker, device. Over the null device everything that can
// go wrong does so on purpose; over OpenCL it does so in real kernels.

#include "verify/process_workbench.hpp"

#include <dirent.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <thread>

#include "verify/arena.hpp"

namespace kw {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::AllOf;
using testing::HasSubstr;
using testing::Lt;
using testing::StartsWith;

constexpr Duration k_ample = seconds(60);

// ---- one device and one candidate, as briefly as can be said

LaunchPlan plan_with(std::vector<PlannedBuffer> buffers, std::vector<PlannedLaunch> launches) {
  return {std::move(buffers), std::move(launches)};
}
PlannedBuffer input(const std::string& name, std::int64_t bytes) {
  return {name, BufferRole::input, DType::f32, bytes};
}
PlannedBuffer output(const std::string& name, std::int64_t bytes) {
  return {name, BufferRole::output, DType::f32, bytes};
}
PlannedLaunch launch_of(const std::string& kernel, std::int64_t grid, std::int64_t block, std::vector<KernelArg> args) {
  PlannedLaunch launch;
  launch.kernel = kernel;
  launch.grid[0] = grid;
  launch.block[0] = block;
  launch.args = std::move(args);
  return launch;
}

std::span<float> floats(std::span<std::byte> bytes) {
  return {reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float)};
}

bool all_poison(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == k_arena_poison; });
}

using LaunchAnswer = std::variant<LaunchOutcome, LaunchFailure, LostWorker>;

/// What became of a launch, as text to compare: "ran", "failed: ...", "crashed: ...", "timed out: ..." and so on.
std::string fate(const LaunchAnswer& answer) {
  if (std::holds_alternative<LaunchOutcome>(answer)) return "ran";
  if (const auto* failure = std::get_if<LaunchFailure>(&answer)) return "failed: " + failure->what;
  const auto& lost = std::get<LostWorker>(answer);
  switch (lost.how) {
    case WorkerLoss::crashed:
      return "crashed: " + lost.detail;
    case WorkerLoss::timed_out:
      return "timed out: " + lost.detail;
    case WorkerLoss::out_of_memory:
      return "out of memory: " + lost.detail;
  }
  return "impossible";
}

std::string open_error(const WorkbenchOptions& options) {
  const auto bench = open_process_workbench(options);
  return bench ? "opened" : bench.error().to_string();
}

/// One workbench for all tests of a suite: opening it probes the sandbox and loads the drivers.
class WorkbenchTest : public testing::Test {
 protected:
  static void open(const std::string& device_id) {
    WorkbenchOptions options;
    options.device_id = device_id;
    auto opened = open_process_workbench(options);
    ASSERT_TRUE(opened) << opened.error().to_string();
    bench_ = *std::move(opened);
  }
  static void TearDownTestSuite() { bench_.reset(); }

  static BuildReply build(const std::string& source, std::vector<PlannedLaunch> launches) {
    BuildRequest request;
    request.source = source;
    request.launches = std::move(launches);
    auto answer = bench_->build(request, k_ample);
    if (const auto* lost = std::get_if<LostWorker>(&answer)) {
      ADD_FAILURE() << "the build process was lost: " << lost->detail;
      return {};
    }
    return std::get<BuildReply>(std::move(answer));
  }

  static std::unique_ptr<KernelProcess> start(const std::string& source, const std::vector<LaunchPlan>& plans) {
    StartRequest request;
    const BuildReply built = build(source, plans.front().launches);
    EXPECT_EQ(built.status, BuildStatus::ok) << built.log;
    request.binaries = {built.binary};
    for (const LaunchPlan& plan : plans) request.plans.push_back({plan, 0});
    auto answer = bench_->start(request, k_ample);
    if (auto* process = std::get_if<std::unique_ptr<KernelProcess>>(&answer)) return std::move(*process);
    const auto* failure = std::get_if<LaunchFailure>(&answer);
    ADD_FAILURE() << "not started: " << (failure != nullptr ? failure->what : std::get<LostWorker>(answer).detail);
    return nullptr;
  }

  /// The fate of a candidate of one kernel `k` over the buffers Q and O.
  static std::string fate_of(const std::string& source, Duration deadline = k_ample,
                             std::vector<KernelArg> args = {BufferArg{0}, BufferArg{1}}) {
    auto process =
        start(source, {plan_with({input("Q", 64), output("O", 64)}, {launch_of("k", 1, 1, std::move(args))})});
    return process == nullptr ? "not started" : fate(process->launch(false, deadline));
  }

  static inline std::unique_ptr<Workbench> bench_;
};

// ---- the null device

class NullWorkbench : public WorkbenchTest {
 protected:
  static void SetUpTestSuite() { open("null"); }
};

TEST_F(NullWorkbench, describes_the_device_and_the_sandbox) {
  EXPECT_EQ(bench_->device().id, "null");
  EXPECT_EQ(bench_->device().kind, DeviceKind::null_device);
  EXPECT_GE(bench_->sandbox().tier, SandboxTier::a);
}

TEST_F(NullWorkbench, a_launch_changes_the_buffers_the_host_sees) {
  auto process = start("kernel k\nfill O 2.5\ncopy O P\n",
                       {plan_with({output("O", 40), output("P", 20)}, {launch_of("k", 1, 1, {})})});
  ASSERT_NE(process, nullptr);
  EXPECT_EQ(fate(process->launch(false, k_ample)), "ran");
  EXPECT_THAT(floats(process->buffer(0)), testing::Each(2.5F));
  EXPECT_THAT(floats(process->buffer(1)), testing::Each(2.5F));
}

TEST_F(NullWorkbench, a_fresh_layout_is_poison_and_guards_surround_every_buffer) {
  const auto launch = launch_of("k", 1, 1, {});
  auto process = start("kernel k\nfill O 1\n", {plan_with({input("Q", 100), output("O", 5000)}, {launch}),
                                                plan_with({output("O", 8192)}, {launch})});
  ASSERT_NE(process, nullptr);
  ASSERT_EQ(fate(process->launch(false, k_ample)), "ran");
  ASSERT_TRUE(process->select(0));
  const auto guards = process->guards();
  ASSERT_EQ(guards.size(), 3U);
  for (const auto& guard : guards) {
    EXPECT_GE(guard.size(), 4096U);
    EXPECT_TRUE(all_poison(guard));
  }
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_TRUE(all_poison(process->buffer(i))) << i;
    EXPECT_EQ(guards[i].data() + guards[i].size(), process->buffer(i).data()) << i;
    EXPECT_EQ(process->buffer(i).data() + process->buffer(i).size(), guards[i + 1].data()) << i;
  }
  ASSERT_TRUE(process->select(1));
  EXPECT_EQ(process->buffer(0).size(), 8192U);
  EXPECT_EQ(fate(process->launch(false, k_ample)), "ran");
  EXPECT_THAT(floats(process->buffer(0)), testing::Each(1.0F));
}

TEST_F(NullWorkbench, writing_outside_a_buffer_shows_in_its_guards) {
  auto process =
      start("kernel before\ntouch_guard O -1\nkernel after\ntouch_guard O 0\nkernel far\ntouch_guard O 4095\n",
            {plan_with({output("O", 100)}, {launch_of("before", 1, 1, {})}),
             plan_with({output("O", 100)}, {launch_of("after", 1, 1, {})}),
             plan_with({output("O", 100)}, {launch_of("far", 1, 1, {})})});
  ASSERT_NE(process, nullptr);
  for (std::size_t plan = 0; plan < 3; ++plan) {
    SCOPED_TRACE(plan);
    ASSERT_TRUE(process->select(plan));
    ASSERT_EQ(fate(process->launch(false, k_ample)), "ran");
    EXPECT_EQ(all_poison(process->guards()[0]), plan != 0);
    EXPECT_EQ(all_poison(process->guards()[1]), plan == 0);
  }
}

TEST_F(NullWorkbench, a_modified_input_shows) {
  auto process = start("kernel k\nmodify_input Q\n", {plan_with({input("Q", 64)}, {launch_of("k", 1, 1, {})})});
  ASSERT_NE(process, nullptr);
  floats(process->buffer(0))[0] = 1.0F;
  ASSERT_EQ(fate(process->launch(false, k_ample)), "ran");
  EXPECT_NE(floats(process->buffer(0))[0], 1.0F);
}

TEST_F(NullWorkbench, a_hang_is_killed_at_its_deadline) {
  for (const std::string how : {"hang", "sleep_until_killed"}) {
    SCOPED_TRACE(how);
    auto process = start("kernel k\n" + how + "\n", {plan_with({output("O", 64)}, {launch_of("k", 1, 1, {})})});
    ASSERT_NE(process, nullptr);
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(fate(process->launch(false, milliseconds(200))), "timed out: no answer within 0.2 s; killed");
    EXPECT_LT(std::chrono::steady_clock::now() - begin, seconds(5));
    EXPECT_EQ(fate(process->launch(false, k_ample)), "timed out: no answer within 0.2 s; killed") << "still dead";
  }
}

TEST_F(NullWorkbench, a_crash_names_its_signal) {
  EXPECT_EQ(fate_of("kernel k\ncrash\n"), "crashed: killed by signal 11 (SIGSEGV)");
  EXPECT_EQ(fate_of("kernel k\nabort\n"), "crashed: killed by signal 6 (SIGABRT)");
}

TEST_F(NullWorkbench, an_exit_nobody_asked_for_is_a_crash) {
  EXPECT_EQ(fate_of("kernel k\nexit\n"), "crashed: exited with status 0");
}

TEST_F(NullWorkbench, memory_beyond_the_sandbox_is_out_of_memory) {
  EXPECT_EQ(fate_of("kernel k\nallocate 64MiB\n"), "ran");
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_EQ(fate_of("kernel k\nallocate 6GiB\n"), "out of memory: asked for more memory than the sandbox grants");
#endif
}

/// Processes of this machine whose name is the worker's.
int worker_processes() {
  int count = 0;
  DIR* directory = ::opendir("/proc");
  while (const dirent* entry = ::readdir(directory)) {
    std::ifstream file(std::string("/proc/") + entry->d_name + "/comm");
    std::string name;
    if (std::getline(file, name) && name == "kernelwright-wo") ++count;
  }
  ::closedir(directory);
  return count;
}

TEST_F(NullWorkbench, children_of_a_candidate_die_with_it) {
  const int before = worker_processes();
  auto process = start("kernel k\nfork 5\nhang\n", {plan_with({output("O", 64)}, {launch_of("k", 1, 1, {})})});
  ASSERT_NE(process, nullptr);
  const std::string end = fate(process->launch(false, milliseconds(300)));
  EXPECT_TRUE(end.starts_with("timed out") || end.starts_with("failed: fork number 1")) << end;
  process.reset();
  EXPECT_LE(worker_processes(), before + 1) << "besides one in reserve";
}

TEST_F(NullWorkbench, a_fork_bomb_is_refused_or_dies_with_its_process) {
  const std::string end = fate_of("kernel k\nfork 100000\nhang\n", seconds(5));
  EXPECT_THAT(end, AllOf(HasSubstr("fork number"), StartsWith("failed: "))) << end;
}

TEST_F(NullWorkbench, a_candidate_can_neither_execute_nor_write_files) {
  EXPECT_THAT(fate_of("kernel k\nexec /bin/true\n"), StartsWith("failed: exec /bin/true: "));
  EXPECT_THAT(fate_of("kernel k\nwrite_file /tmp/kw_escaped\n"), StartsWith("failed: write /tmp/kw_escaped: "));
  EXPECT_THAT(fate_of("kernel k\nwrite_file here\n"), StartsWith("failed: write here: ")) << "its own directory";
}

TEST_F(NullWorkbench, a_malformed_answer_costs_the_process) {
  EXPECT_EQ(fate_of("kernel k\ngarbage_reply\n"), "crashed: a message of the worker has the unknown kind 255; killed");
}

TEST_F(NullWorkbench, a_claimed_time_is_only_a_claim) {
  auto process =
      start("kernel k\nspin_us 3000\nclaim_ns 5\n", {plan_with({output("O", 4)}, {launch_of("k", 1, 1, {})})});
  ASSERT_NE(process, nullptr);
  const auto answer = process->launch(false, k_ample);
  ASSERT_EQ(fate(answer), "ran");
  EXPECT_EQ(std::get<LaunchOutcome>(answer).claimed_ns, 5);
  EXPECT_GE(std::get<LaunchOutcome>(answer).observed_ns, 3'000'000);
}

TEST_F(NullWorkbench, a_mistake_in_the_source_comes_back_with_its_line) {
  const BuildReply reply = build("kernel k\nfly away\n", {launch_of("k", 1, 1, {})});
  EXPECT_EQ(reply.status, BuildStatus::source_error);
  EXPECT_EQ(
      reply.log,
      "2: the null device does not understand 'fly away' [null.syntax]\n  try: see device/null/program.hpp for its "
      "directives");
}

TEST_F(NullWorkbench, a_build_process_that_died_or_hung_is_replaced) {
  BuildRequest request;
  for (const auto& [how, loss, deadline] : {std::tuple{"crash", WorkerLoss::crashed, Duration(seconds(60))},
                                            std::tuple{"exit", WorkerLoss::crashed, Duration(seconds(60))},
                                            std::tuple{"hang", WorkerLoss::timed_out, Duration(milliseconds(300))}}) {
    SCOPED_TRACE(how);
    request.source = std::string("at_build ") + how + "\n";
    const auto answer = bench_->build(request, deadline);
    const auto* lost = std::get_if<LostWorker>(&answer);
    ASSERT_NE(lost, nullptr);
    EXPECT_EQ(lost->how, loss) << lost->detail;
    EXPECT_EQ(build("kernel k\n", {launch_of("k", 1, 1, {})}).status, BuildStatus::ok);
  }
}

TEST_F(NullWorkbench, two_candidates_at_once_do_not_share_anything) {
  const LaunchPlan plan = plan_with({output("O", 64)}, {launch_of("k", 1, 1, {})});
  auto one = start("kernel k\nfill O 1\n", {plan});
  auto two = start("kernel k\nfill O 2\n", {plan});
  ASSERT_TRUE(one != nullptr && two != nullptr);
  ASSERT_EQ(fate(one->launch(false, k_ample)), "ran");
  ASSERT_EQ(fate(two->launch(false, k_ample)), "ran");
  EXPECT_THAT(floats(one->buffer(0)), testing::Each(1.0F));
  EXPECT_THAT(floats(two->buffer(0)), testing::Each(2.0F));
}

TEST_F(NullWorkbench, a_plan_that_does_not_exist_is_refused) {
  auto process = start("kernel k\n", {plan_with({output("O", 64)}, {launch_of("k", 1, 1, {})})});
  ASSERT_NE(process, nullptr);
  const auto selected = process->select(1);
  ASSERT_FALSE(selected);
  EXPECT_EQ(selected.error().code, errc::worker_failed);
  EXPECT_EQ(selected.error().message, "there is no plan 1 of 1");
}

TEST_F(NullWorkbench, a_candidate_larger_than_the_reserve_has_room_for_still_starts) {
  auto process =
      start("kernel k\nfill O 3\n", {plan_with({output("O", std::int64_t{300} << 20)}, {launch_of("k", 1, 1, {})})});
  ASSERT_NE(process, nullptr);
  ASSERT_EQ(fate(process->launch(false, k_ample)), "ran");
  EXPECT_EQ(floats(process->buffer(0)).back(), 3.0F);
}

TEST(ProcessWorkbench, says_what_is_missing) {
  WorkbenchOptions options;
  options.device_id = "null";
  options.worker = "/nowhere/kernelwright-worker";
  EXPECT_EQ(
      open_error(options),
      "the worker executable /nowhere/kernelwright-worker does not exist [worker.missing]\n  try: build the target "
      "kernelwright-worker, or install it beside kernelwright");
  options.worker.clear();
  options.device_id = "cuda:7";
  EXPECT_THAT(open_error(options), AllOf(StartsWith("there is no device 'cuda:7'"), HasSubstr("[device.missing]"),
                                         HasSubstr("use one of: "), HasSubstr("null")));
}

TEST(Arena, sizes_that_do_not_add_up_are_refused) {
  const auto layout = lay_out(plan_with({input("Q", INT64_MAX - 10)}, {}));
  ASSERT_FALSE(layout);
  EXPECT_EQ(layout.error().code, errc::overflow);
  EXPECT_EQ(layout.error().message, "buffer 'Q' of 9223372036854775797 bytes does not fit into an arena");
  EXPECT_FALSE(lay_out(plan_with({input("Q", 0)}, {})));
}

TEST(Arena, its_size_cannot_be_changed_by_whoever_has_the_descriptor) {
  auto arena = Arena::create();
  ASSERT_TRUE(arena);
  ASSERT_TRUE(arena->fix_size(8192));
  EXPECT_NE(::ftruncate(arena->descriptor(), 0), 0);
  EXPECT_NE(::ftruncate(arena->descriptor(), 1 << 20), 0);
}

// ---- OpenCL

/// A driver is announced to the loader: then a device has to be there, and skipping would hide that it is not.
bool driver_installed() {
  DIR* directory = ::opendir("/etc/OpenCL/vendors");
  if (directory == nullptr) return false;
  bool found = false;
  while (const dirent* entry = ::readdir(directory)) found = found || std::string_view(entry->d_name).ends_with(".icd");
  ::closedir(directory);
  return found;
}

class OpenclWorkbench : public WorkbenchTest {
 protected:
  static void SetUpTestSuite() {
    if (driver_installed()) open("opencl:0");
  }
  void SetUp() override {
    if (!driver_installed()) GTEST_SKIP() << "SKIP: no OpenCL driver is installed (apt-get install pocl-opencl-icd)";
    ASSERT_NE(bench_, nullptr);
  }
};

const char* const k_add = R"(
__kernel __attribute__((reqd_work_group_size(64, 1, 1)))
void k(__global const float* a, __global const float* b, __global float* sum, int n) {
  const int i = get_global_id(0);
  if (i < n) sum[i] = a[i] + SCALE * b[i];
}
)";

TEST_F(OpenclWorkbench, describes_a_device_one_can_plan_for) {
  const DeviceFacts& device = bench_->device();
  EXPECT_EQ(device.id, "opencl:0");
  EXPECT_EQ(device.target, "opencl");
  EXPECT_FALSE(device.name.empty());
  EXPECT_GT(device.max_block_items, 0);
  EXPECT_GT(device.shared_bytes_per_block, 0);
  EXPECT_GT(device.memory_bytes, 0);
  EXPECT_GT(device.last_level_cache_bytes, 0);
}

TEST_F(OpenclWorkbench, adds_vectors_from_source_to_result) {
  constexpr int k_count = 1000;
  const std::int64_t bytes = k_count * 4;
  const LaunchPlan plan =
      plan_with({input("a", bytes), input("b", bytes), output("sum", bytes)},
                {launch_of("k", 16, 64, {BufferArg{0}, BufferArg{1}, BufferArg{2}, IntArg{k_count}})});
  BuildRequest request{"", k_add, {{"SCALE", 3}}, plan.launches};
  const auto answer = bench_->build(request, k_ample);
  const auto* built = std::get_if<BuildReply>(&answer);
  ASSERT_NE(built, nullptr);
  ASSERT_EQ(built->status, BuildStatus::ok) << built->log;
  auto started = bench_->start({{built->binary}, {{plan, 0}}}, k_ample);
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

TEST_F(OpenclWorkbench, shared_memory_barriers_and_several_launches_work) {
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

TEST_F(OpenclWorkbench, a_write_past_the_end_shows_in_the_guards) {
  auto process = start("__kernel void k(__global float* o) { o[16] = 1.0f; }",
                       {plan_with({output("O", 64)}, {launch_of("k", 1, 1, {BufferArg{0}})})});
  ASSERT_NE(process, nullptr);
  ASSERT_EQ(fate(process->launch(false, k_ample)), "ran");
  EXPECT_TRUE(all_poison(process->guards()[0]));
  EXPECT_FALSE(all_poison(process->guards()[1]));
}

TEST_F(OpenclWorkbench, a_compile_error_comes_back_with_its_line) {
  const BuildReply reply =
      build("__kernel void k(__global float* o) {\n  o[0] = undeclared;\n}\n", {launch_of("k", 1, 1, {BufferArg{0}})});
  EXPECT_EQ(reply.status, BuildStatus::source_error);
  EXPECT_THAT(reply.log, HasSubstr("kernel.cl:2:10: use of undeclared identifier 'undeclared'"));
}

TEST_F(OpenclWorkbench, kernels_that_do_not_fit_their_launches_are_explained) {
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

TEST_F(OpenclWorkbench, a_definition_cannot_smuggle_in_an_option) {
  const auto answer = bench_->build({"", "__kernel void k() {}", {{"X -I/etc -DY", 1}}, {}}, k_ample);
  const auto* reply = std::get_if<BuildReply>(&answer);
  ASSERT_NE(reply, nullptr);
  EXPECT_EQ(reply->status, BuildStatus::source_error);
  EXPECT_EQ(reply->log, "a definition's name is not an identifier");
}

TEST_F(OpenclWorkbench, an_endless_kernel_is_killed_at_its_deadline) {
  EXPECT_EQ(
      fate_of("__kernel void k(__global float* q, __global volatile float* o) { while (o[0] != 1.0f) o[1] += 1.0f; }",
              milliseconds(500)),
      "timed out: no answer within 0.5 s; killed");
}

TEST_F(OpenclWorkbench, a_null_pointer_costs_the_process_only) {
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

TEST_F(OpenclWorkbench, a_kernel_that_makes_system_calls_is_stopped) {
#if defined(__x86_64__)
  constexpr long k_execve = 59;
  constexpr long k_socket = 41;
  for (const long number : {k_execve, k_socket}) {
    SCOPED_TRACE(number);
    auto process =
        start(syscall_kernel(number),
              {plan_with({input("Q", 64), output("O", 64)}, {launch_of("k", 1, 1, {BufferArg{0}, BufferArg{1}})})});
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

TEST_F(OpenclWorkbench, a_forked_kernel_process_dies_with_its_parent) {
#if defined(__x86_64__)
  const int before = worker_processes();
  const std::string source = R"(
    __kernel void k(__global float* q, __global float* o) {
      long result;
      __asm__ volatile("syscall" : "=a"(result) : "a"(57L) : "rcx", "r11", "memory");
      if (result == 0) for (;;) ((volatile __global float*)o)[1] += 1.0f;
    })";
  const std::string end = fate_of(source, seconds(2));
  EXPECT_TRUE(end == "ran" || end.starts_with("timed out")) << end;
  EXPECT_LE(worker_processes(), before + 1) << "besides one in reserve";
#else
  GTEST_SKIP() << "SKIP: the kernel is written for x86-64";
#endif
}

}  // namespace
}  // namespace kw

// The whole path of a candidate (backend, protocol, sandbox, worker, device) over the null device, where everything
// that can go wrong does so on purpose.

#include "verify/processes/process_backend.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "verify/processes/build_deadline.hpp"
#include "verify/processes/worker_process.hpp"
#include "verify/processes/worker_spec.hpp"
#include "verify/testing/backend_fixture.hpp"
#include "verify/testing/mapped_files.hpp"

namespace kw {
namespace {

using namespace backend_test;  // NOLINT: a test's own vocabulary
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class NullBackend : public BackendTest {
 protected:
  static void SetUpTestSuite() { open("null"); }
};

TEST_F(NullBackend, describes_the_device_and_the_sandbox) {
  EXPECT_EQ(backend_->device().id, "null");
  EXPECT_EQ(backend_->device().kind, DeviceKind::null_device);
  EXPECT_GE(backend_->sandbox().tier, SandboxTier::a);
}

TEST_F(NullBackend, a_launch_changes_the_buffers_the_host_sees) {
  auto process = start("kernel k\nfill O 2.5\ncopy O P\n",
                       {plan_with({output("O", 40), output("P", 20)}, {launch_of("k", 1, 1, {})})});
  ASSERT_NE(process, nullptr);
  EXPECT_EQ(fate(process->launch(false, k_ample)), "ran");
  EXPECT_THAT(floats(process->buffer(0)), testing::Each(2.5F));
  EXPECT_THAT(floats(process->buffer(1)), testing::Each(2.5F));
}

TEST_F(NullBackend, a_process_in_reserve_has_memory_cleared_within_its_limits) {
  constexpr std::int64_t k_file_limit = std::int64_t{1} << 20;
  constexpr std::int64_t k_ahead = 8 * k_file_limit;
  BackendOptions options;
  options.worker = find_worker().value();
  options.limits.file_bytes = k_file_limit;
  auto arena = Arena::create();
  ASSERT_TRUE(arena) << arena.error().to_string();
  auto worker = WorkerProcess::spawn(run_spec(options, backend_->device(), *arena, {k_ahead, k_ahead}));
  ASSERT_TRUE(worker) << worker.error().to_string();
  // It answers when it is ready; a process that was killed for a file that is too long does not.
  const auto answer = worker->request(LaunchRequest{0, false}, patient(k_ample));
  ASSERT_TRUE(std::holds_alternative<WorkerMessage>(answer)) << std::get<LostWorker>(answer).detail;
  struct stat file = {};
  ASSERT_EQ(::fstat(arena->descriptor(), &file), 0);
  EXPECT_GE(file.st_blocks * 512, k_ahead);
}

TEST_F(NullBackend, guards_of_poison_surround_every_buffer_of_a_fresh_layout) {
  const auto launch = launch_of("k", 1, 1, {});
  auto process = start("kernel k\nfill O 1\n", {plan_with({input("Q", 100), output("O", 5000)}, {launch}),
                                                plan_with({output("O", 8192)}, {launch})});
  ASSERT_NE(process, nullptr);
  ASSERT_EQ(fate(process->launch(false, k_ample)), "ran");
  std::ranges::fill(process->guards()[2], std::byte{0});
  ASSERT_TRUE(process->select(0));
  EXPECT_FALSE(all_poison(process->guards()[2])) << "the plan that is selected is not laid out again";
  ASSERT_TRUE(process->select(1));
  ASSERT_TRUE(process->select(0));
  const auto guards = process->guards();
  ASSERT_EQ(guards.size(), 3U);
  for (const auto& guard : guards) {
    EXPECT_GE(guard.size(), 4096U);
    EXPECT_TRUE(all_poison(guard));
  }
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(guards[i].data() + guards[i].size(), process->buffer(i).data()) << i;
    EXPECT_EQ(process->buffer(i).data() + process->buffer(i).size(), guards[i + 1].data()) << i;
  }
  ASSERT_TRUE(process->select(1));
  EXPECT_EQ(process->buffer(0).size(), 8192U);
  EXPECT_EQ(fate(process->launch(false, k_ample)), "ran");
  EXPECT_THAT(floats(process->buffer(0)), testing::Each(1.0F));
}

TEST_F(NullBackend, writing_outside_a_buffer_shows_in_its_guards) {
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

TEST_F(NullBackend, a_modified_input_shows) {
  auto process = start("kernel k\nmodify_input Q\n", {plan_with({input("Q", 64)}, {launch_of("k", 1, 1, {})})});
  ASSERT_NE(process, nullptr);
  floats(process->buffer(0))[0] = 1.0F;
  ASSERT_EQ(fate(process->launch(false, k_ample)), "ran");
  EXPECT_NE(floats(process->buffer(0))[0], 1.0F);
}

TEST_F(NullBackend, a_hang_is_killed_at_its_deadline) {
  for (const std::string how : {"hang", "sleep_until_killed"}) {
    SCOPED_TRACE(how);
    auto process = start("kernel k\n" + how + "\n", {plan_with({output("O", 64)}, {launch_of("k", 1, 1, {})})});
    ASSERT_NE(process, nullptr);
    EXPECT_EQ(fate(process->launch(false, milliseconds(200))), "timed out: no answer within 0.2 s; killed");
    EXPECT_EQ(fate(process->launch(false, k_ample)), "timed out: no answer within 0.2 s; killed") << "still dead";
  }
}

TEST_F(NullBackend, a_crash_names_its_signal) {
  EXPECT_EQ(fate_of("kernel k\ncrash\n"), "crashed: killed by signal 11 (SIGSEGV)");
  EXPECT_EQ(fate_of("kernel k\nabort\n"), "crashed: killed by signal 6 (SIGABRT)");
}

TEST_F(NullBackend, an_exit_nobody_asked_for_is_a_crash) {
  EXPECT_EQ(fate_of("kernel k\nexit\n"), "crashed: exited with status 0");
}

TEST_F(NullBackend, memory_beyond_the_sandbox_is_out_of_memory) {
  EXPECT_EQ(fate_of("kernel k\nallocate 64MiB\n"), "ran");
#if !defined(KW_SANITIZED)
  EXPECT_EQ(fate_of("kernel k\nallocate 6GiB\n"), "out of memory: asked for more memory than the sandbox grants");
#endif
}

TEST_F(NullBackend, children_of_a_candidate_die_with_it) {
  auto process = start("kernel k\nfork 5\nhang\n", {plan_with({output("O", 64)}, {launch_of("k", 1, 1, {})})});
  ASSERT_NE(process, nullptr);
  const std::string arena = mapped_file_at(process->buffer(0).data());
  EXPECT_EQ(processes_mapping(arena), 2) << "the host and the candidate";
  const std::string end = fate(process->launch(false, milliseconds(300)));
  EXPECT_TRUE(end.starts_with("timed out") || end.starts_with("failed: fork number 1")) << end;
  process.reset();
  EXPECT_EQ(processes_mapping(arena), 0);
}

TEST_F(NullBackend, a_fork_bomb_is_refused_or_dies_with_its_process) {
  const std::string end = fate_of("kernel k\nfork 100000\nhang\n", seconds(5));
  EXPECT_THAT(end, AllOf(HasSubstr("fork number"), StartsWith("failed: "))) << end;
}

TEST_F(NullBackend, a_candidate_can_neither_execute_nor_write_files) {
  EXPECT_THAT(fate_of("kernel k\nexec /bin/true\n"), StartsWith("failed: exec /bin/true: "));
  EXPECT_THAT(fate_of("kernel k\nwrite_file /tmp/kw_escaped\n"), StartsWith("failed: write /tmp/kw_escaped: "));
  EXPECT_THAT(fate_of("kernel k\nwrite_file here\n"), StartsWith("failed: write here: ")) << "its own directory";
}

TEST_F(NullBackend, a_malformed_answer_costs_the_process) {
  EXPECT_EQ(fate_of("kernel k\ngarbage_reply\n"), "crashed: a message of the worker has the unknown kind 255; killed");
}

TEST_F(NullBackend, a_claimed_time_is_only_a_claim) {
  auto process =
      start("kernel k\nspin_us 3000\nclaim_ns 5\n", {plan_with({output("O", 4)}, {launch_of("k", 1, 1, {})})});
  ASSERT_NE(process, nullptr);
  const auto answer = process->launch(false, k_ample);
  ASSERT_EQ(fate(answer), "ran");
  EXPECT_EQ(std::get<LaunchOutcome>(answer).claimed_ns, 5);
  EXPECT_GE(std::get<LaunchOutcome>(answer).observed_ns, 3'000'000);
}

TEST_F(NullBackend, a_mistake_in_the_source_comes_back_with_its_line) {
  const BuildReply reply = build("kernel k\nfly away\n", {launch_of("k", 1, 1, {})});
  EXPECT_EQ(reply.status, BuildStatus::source_error);
  EXPECT_EQ(
      reply.log,
      "2: the null device does not understand 'fly away' [null.syntax]\n  try: see device/null/program.hpp for its "
      "directives");
}

TEST_F(NullBackend, a_build_process_that_died_or_hung_is_replaced) {
  BuildRequest request;
  for (const auto& [how, loss, deadline] : {std::tuple{"crash", WorkerLoss::crashed, Duration(seconds(60))},
                                            std::tuple{"exit", WorkerLoss::crashed, Duration(seconds(60))},
                                            std::tuple{"hang", WorkerLoss::timed_out, Duration(milliseconds(300))}}) {
    SCOPED_TRACE(how);
    request.source = std::string("at_build ") + how + "\n";
    const auto answer = backend_->build(request, deadline, SourceOrigin::foreign);
    const auto* lost = std::get_if<LostWorker>(&answer);
    ASSERT_NE(lost, nullptr);
    EXPECT_EQ(lost->how, loss) << lost->detail;
    EXPECT_EQ(build("kernel k\n", {launch_of("k", 1, 1, {})}).status, BuildStatus::ok);
  }
}

TEST_F(NullBackend, a_source_that_crashes_the_compiler_late_has_one_deadline_for_both_tries) {
  ASSERT_EQ(build("kernel k\n", {launch_of("k", 1, 1, {})}).status, BuildStatus::ok) << "a process that has built";
  BuildRequest request;
  request.source = "at_build crash_late\n";
  const auto answer = backend_->build(request, Duration(milliseconds(600)), SourceOrigin::foreign);
  const auto* lost = std::get_if<LostWorker>(&answer);
  ASSERT_NE(lost, nullptr);
  EXPECT_EQ(lost->how, WorkerLoss::timed_out) << lost->detail;
}

TEST_F(NullBackend, a_build_is_given_up_by_its_processor_time_on_a_busy_machine) {
  const AnswerDeadline patient(milliseconds(200), seconds(60));
  const auto lost_by = [&](const char* how, AnswerDeadline deadline) {
    BuildRequest request;
    request.source = std::string("at_build ") + how + "\n";
    const auto answer = backend_->build(request, deadline, SourceOrigin::foreign);
    return fate(std::get<LostWorker>(answer));
  };
  EXPECT_THAT(lost_by("hang", patient), StartsWith("timed out: no answer after 0."));
  EXPECT_THAT(lost_by("sleep_until_killed", {milliseconds(200), milliseconds(500)}),
              AllOf(StartsWith("starved: no answer within 0.5"), HasSubstr(" of processor time; killed")))
      << "it never had what it may have";
  EXPECT_EQ(build("kernel k\n", {launch_of("k", 1, 1, {})}).status, BuildStatus::ok);
}

TEST_F(NullBackend, two_candidates_at_once_do_not_share_anything) {
  const LaunchPlan plan = plan_with({output("O", 64)}, {launch_of("k", 1, 1, {})});
  auto one = start("kernel k\nfill O 1\n", {plan});
  auto two = start("kernel k\nfill O 2\n", {plan});
  ASSERT_TRUE(one != nullptr && two != nullptr);
  ASSERT_EQ(fate(one->launch(false, k_ample)), "ran");
  ASSERT_EQ(fate(two->launch(false, k_ample)), "ran");
  EXPECT_THAT(floats(one->buffer(0)), testing::Each(1.0F));
  EXPECT_THAT(floats(two->buffer(0)), testing::Each(2.0F));
}

TEST_F(NullBackend, a_plan_that_does_not_exist_is_refused) {
  auto process = start("kernel k\n", {plan_with({output("O", 64)}, {launch_of("k", 1, 1, {})})});
  ASSERT_NE(process, nullptr);
  const auto selected = process->select(1);
  ASSERT_FALSE(selected);
  EXPECT_EQ(selected.error().code, errc::worker_failed);
  EXPECT_EQ(selected.error().message, "there is no plan 1 of 1");
}

TEST_F(NullBackend, a_candidate_larger_than_the_reserve_has_room_for_still_starts) {
  auto process =
      start("kernel k\nfill O 3\n", {plan_with({output("O", std::int64_t{300} << 20)}, {launch_of("k", 1, 1, {})})});
  ASSERT_NE(process, nullptr);
  ASSERT_EQ(fate(process->launch(false, k_ample)), "ran");
  EXPECT_EQ(floats(process->buffer(0)).back(), 3.0F);
}

/// Processes that this one has started, and theirs.
std::vector<pid_t> descendants() {
  std::vector<pid_t> found = {::getpid()};
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (const auto& task : std::filesystem::directory_iterator(fmt::format("/proc/{}/task", found[i]))) {
      std::ifstream children(task.path() / "children");
      for (pid_t child = 0; children >> child;) found.push_back(child);
    }
  }
  found.erase(found.begin());
  return found;
}

TEST_F(NullBackend, a_process_in_reserve_that_was_stopped_is_not_waited_for) {
  const LaunchPlan plan = plan_with({output("O", 40)}, {launch_of("k", 1, 1, {})});
  const BuildReply built = build("kernel k\nfill O 3\n", plan.launches);
  ASSERT_EQ(built.status, BuildStatus::ok) << built.log;
  backend_->prepare();
  const std::vector<pid_t> ready = descendants();
  ASSERT_FALSE(ready.empty());
  for (const pid_t one : ready) ::kill(one, SIGSTOP);
  StartRequest request;
  request.binaries = {built.binary};
  request.plans.push_back({plan, 0});
  auto started = backend_->start(request, seconds(8));
  for (const pid_t one : ready) ::kill(one, SIGCONT);  // the compiler's among them
  auto* process = std::get_if<std::unique_ptr<KernelProcess>>(&started);
  ASSERT_NE(process, nullptr) << std::get<LostWorker>(started).detail;
  EXPECT_EQ(fate((*process)->launch(false, k_ample)), "ran");
}

TEST(ProcessBackend, holds_no_process_ready_for_starts_that_will_not_come) {
  BackendOptions options;
  options.device_id = "null";
  const auto backend = open_process_backend(options);
  ASSERT_TRUE(backend) << backend.error().to_string();
  const std::size_t only_compiler = descendants().size();
  (*backend)->expect(0);
  (*backend)->prepare();
  EXPECT_EQ(descendants().size(), only_compiler);
  (*backend)->expect(1);
  (*backend)->prepare();
  EXPECT_GT(descendants().size(), only_compiler);
  const LaunchPlan plan = plan_with({output("O", 40)}, {launch_of("k", 1, 1, {})});
  const auto built = (*backend)->build({"", "kernel k\nfill O 3\n", {}, plan.launches}, k_ample, SourceOrigin::own);
  StartRequest request;
  request.binaries = {std::get<BuildReply>(built).binary};
  request.plans.push_back({plan, 0});
  const auto started = (*backend)->start(request, k_ample);
  ASSERT_TRUE(std::holds_alternative<std::unique_ptr<KernelProcess>>(started));
  const std::size_t with_kernel = descendants().size();
  (*backend)->prepare();
  EXPECT_EQ(descendants().size(), with_kernel) << "that start was the last";
  (*backend)->expect(std::nullopt);
  (*backend)->prepare();
  EXPECT_GT(descendants().size(), with_kernel) << "another run may need one";
}

std::string open_error(const BackendOptions& options) {
  const auto backend = open_process_backend(options);
  return backend ? "opened" : backend.error().to_string();
}

TEST(ProcessBackend, says_what_is_missing) {
  BackendOptions options;
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

TEST(Arena, buffers_are_aligned_and_end_at_the_end_of_a_page) {
  const auto layout =
      lay_out(plan_with({input("one", 1), input("slot", 512), input("page", 4096), input("more", 4097)}, {}));
  ASSERT_TRUE(layout);
  std::int64_t end = 0;
  for (const ArenaSlot& slot : layout->slots) {
    EXPECT_EQ(slot.offset % k_buffer_alignment, 0) << slot.bytes;
    EXPECT_GE(slot.offset - end, k_guard_bytes) << slot.bytes;
    end = slot.offset + slot.bytes;
    EXPECT_LT((k_arena_page_bytes - end % k_arena_page_bytes) % k_arena_page_bytes, k_buffer_alignment) << slot.bytes;
  }
  EXPECT_GE(layout->bytes - end, k_guard_bytes);
  EXPECT_EQ(layout->slots[2].offset % k_arena_page_bytes, 0) << "a buffer of whole pages leaves no room on either side";
}

TEST(Arena, its_size_cannot_be_changed_by_whoever_has_the_descriptor) {
  auto arena = Arena::create();
  ASSERT_TRUE(arena);
  ASSERT_TRUE(arena->fix_size(8192));
  EXPECT_NE(::ftruncate(arena->descriptor(), 0), 0);
  EXPECT_NE(::ftruncate(arena->descriptor(), 1 << 20), 0);
}

}  // namespace
}  // namespace kw

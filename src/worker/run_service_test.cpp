// A run process and what it answers, with the null device: one candidate is loaded, then launched, and what candidate
// code could use is gone before the first launch.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "base/testing/scratch_directory.hpp"
#include "worker/services.hpp"
#include "worker/testing/forked_worker.hpp"

namespace kw {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::int64_t k_arena_bytes = 4096;
constexpr std::int64_t k_buffer_bytes = 64;

/// One plan per kernel of `source`, each over the buffer "out" at the beginning of the arena.
LoadRequest load_of(const std::string& source, const std::vector<std::string>& kernels) {
  LoadRequest request{"null", k_arena_bytes, {source}, {}};
  for (const auto& kernel : kernels) {
    LoadedPlan plan;
    plan.plan.buffers = {{"out", BufferRole::output, DType::f32, k_buffer_bytes}};
    plan.plan.launches = {{kernel, {1, 1, 1}, {1, 1, 1}, 0, {BufferArg{0}}}};
    plan.slots = {{0, k_buffer_bytes}};
    request.plans.push_back(plan);
  }
  return request;
}

bool is_loaded(const std::optional<WorkerMessage>& answer) {
  return answer && std::holds_alternative<LoadReply>(*answer);
}

class RunService : public ::testing::Test {
 protected:
  static void serve(int socket, int arena) {
    Channel channel(socket);
    serve_launches(channel, "null", arena, 0);
  }
  ForkedWorker worker_{serve, k_arena_bytes};
};

TEST_F(RunService, loads_one_candidate_and_launches_its_plans) {
  ASSERT_TRUE(is_loaded(worker_.ask(load_of("kernel a\nfill out 1\nclaim_ns 42\nkernel b\nfill out 2\n", {"a", "b"}))));
  const auto first = worker_.ask(LaunchRequest{0, false});
  ASSERT_TRUE(first);
  ASSERT_TRUE(std::holds_alternative<LaunchReply>(*first));
  EXPECT_EQ(std::get<LaunchReply>(*first).claimed_ns, 42);
  EXPECT_EQ(worker_.arena_byte(3), std::byte{0x3f}) << "1.0f is 0x3f800000";
  ASSERT_TRUE(worker_.ask(LaunchRequest{1, true}));
  EXPECT_EQ(worker_.arena_byte(3), std::byte{0x40}) << "2.0f is 0x40000000";
  EXPECT_EQ(worker_.arena_byte(k_buffer_bytes), std::byte{0}) << "the guard zone behind the buffer";
  const int status = worker_.finish();
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST_F(RunService, refuses_requests_out_of_their_order) {
  constexpr const char* k_order = "a run process loads one candidate, then launches it";
  EXPECT_EQ(worker_.failure_of(LaunchRequest{0, false}), k_order);
  EXPECT_EQ(worker_.failure_of(BuildRequest{"null", "kernel a\n", {}, {}}), k_order);
  EXPECT_EQ(worker_.failure_of(DescribeRequest{"null"}), k_order);
  ASSERT_TRUE(is_loaded(worker_.ask(load_of("kernel a\nfill out 1\n", {"a"}))));
  EXPECT_EQ(worker_.failure_of(load_of("kernel a\nfill out 1\n", {"a"})), k_order);
  EXPECT_TRUE(worker_.ask(LaunchRequest{0, false})) << "a wrong request does not end the worker";
}

TEST_F(RunService, may_try_to_load_again_after_a_failure) {
  EXPECT_THAT(worker_.failure_of(load_of("dance\n", {"a"})), StartsWith("the null device does not understand 'dance'"));
  LoadRequest too_large = load_of("kernel a\n", {"a"});
  too_large.arena_bytes = 2 * k_arena_bytes;
  EXPECT_EQ(worker_.failure_of(too_large), "the arena of 8192 bytes was not handed over");
  too_large.arena_bytes = 0;
  EXPECT_EQ(worker_.failure_of(too_large), "the arena of 0 bytes was not handed over");
}

TEST_F(RunService, refuses_buffers_that_leave_the_arena) {
  LoadRequest request = load_of("kernel a\n", {"a"});
  request.plans[0].slots[0].offset = k_arena_bytes - 1;
  EXPECT_EQ(worker_.failure_of(request), "a buffer at 4095 of 64 bytes leaves the arena of 4096 bytes");
}

TEST_F(RunService, refuses_plans_that_were_not_loaded) {
  ASSERT_TRUE(is_loaded(worker_.ask(load_of("kernel a\nfill out 1\n", {"a"}))));
  EXPECT_EQ(worker_.failure_of(LaunchRequest{1, false}), "there is no plan 1");
  EXPECT_EQ(worker_.failure_of(LaunchRequest{-1, false}), "there is no plan -1");
}

TEST_F(RunService, ends_at_a_message_that_cannot_be_one) {
  EXPECT_FALSE(worker_.exchange("\xff junk"));
  const int status = worker_.finish();
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST_F(RunService, dies_as_its_candidate_does) {
  ASSERT_TRUE(is_loaded(worker_.ask(load_of("kernel a\ncrash\n", {"a"}))));
  EXPECT_FALSE(worker_.ask(LaunchRequest{0, false}));
  EXPECT_TRUE(WIFSIGNALED(worker_.finish()));
}

TEST_F(RunService, has_given_up_its_rights_before_the_first_launch) {
  const ScratchDirectory scratch;
  const std::string file = (scratch.path() / "written").string();
  ASSERT_TRUE(is_loaded(
      worker_.ask(load_of("kernel write\nwrite_file " + file + "\nkernel exec\nexec /bin/true\nkernel fork\nfork 1\n",
                          {"write", "exec", "fork"}))));
  EXPECT_EQ(worker_.failure_of(LaunchRequest{0, false}), "write " + file + ": Operation not permitted");
  EXPECT_EQ(worker_.failure_of(LaunchRequest{1, false}), "exec /bin/true: Operation not permitted");
  EXPECT_EQ(worker_.failure_of(LaunchRequest{2, false}), "fork number 1: Operation not permitted");
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST(RunServiceWithoutDevice, answers_every_request_with_what_is_missing) {
  ForkedWorker worker(
      [](int socket, int arena) {
        Channel channel(socket);
        serve_launches(channel, "quantum:0", arena, 0);
      },
      k_arena_bytes);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(worker.failure_of(load_of("kernel a\n", {"a"})),
              "no runtime is called 'quantum' (device 'quantum:0') [device.unavailable]");
  }
}

TEST(RunServiceInReserve, has_pages_cleared_before_the_file_has_a_size) {
  constexpr std::int64_t k_pages = std::int64_t{1} << 20;
  ForkedWorker worker(
      [](int socket, int arena) {
        Channel channel(socket);
        serve_launches(channel, "null", arena, k_pages);
      },
      0);
  // It answers when it is ready.
  EXPECT_THAT(worker.failure_of(LaunchRequest{0, false}), StartsWith("a run process loads one candidate"));
  EXPECT_EQ(worker.arena_file().st_size, 0) << "the host's to decide";
  EXPECT_GE(worker.arena_file().st_blocks * 512, k_pages);
}

TEST(RunServiceInReserve, maps_what_was_another_processs_and_runs_in_it) {
  constexpr std::int64_t k_pages = std::int64_t{1} << 20;
  ForkedWorker worker(
      [](int socket, int arena) {
        Channel channel(socket);
        serve_launches(channel, "null", arena, 1);
      },
      k_pages);
  EXPECT_THAT(worker.failure_of(LaunchRequest{0, false}), StartsWith("a run process loads one candidate"));
  EXPECT_GE(worker.arena_file().st_blocks * 512, k_pages) << "all of it, however much was asked for";
  ASSERT_TRUE(is_loaded(worker.ask(load_of("kernel a\nfill out 1\n", {"a"}))));
  ASSERT_TRUE(worker.ask(LaunchRequest{0, false}));
  EXPECT_EQ(worker.arena_byte(3), std::byte{0x3f}) << "1.0f is 0x3f800000";
}

/// Below a tool, with the private directory where the tool's worker would have it.
class WatchedService : public ::testing::Test {
 protected:
  std::string failure_of_writing(const std::vector<std::string>& arguments) {
    const std::string file = (scratch_.path() / "written").string();
    ForkedWorker worker(
        [&](int socket, int arena) {
          ::setenv("TMPDIR", scratch_.path().c_str(), 1);
          Channel channel(socket);
          serve_watched(channel, arguments, arena);
        },
        k_arena_bytes);
    EXPECT_TRUE(is_loaded(worker.ask(load_of("kernel write\nwrite_file " + file + "\n", {"write"}))));
    return worker.failure_of(LaunchRequest{0, false});
  }
  ScratchDirectory scratch_;
};

TEST_F(WatchedService, locks_itself_down_unless_the_tool_needs_its_rights) {
  EXPECT_THAT(failure_of_writing({"null", "--read", "/usr"}), HasSubstr("Operation not permitted"));
  EXPECT_EQ(failure_of_writing({"null", "--unlocked"}), "(no failure)");
  EXPECT_TRUE(std::filesystem::exists(scratch_.path() / "written"));
}

}  // namespace
}  // namespace kw

// Binaries, buffers and arguments made ready, and launched, with a driver of the test's own.

#include "device/opencl/loaded.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "base/testing/scratch_directory.hpp"
#include "device/testing/fake_opencl.hpp"

namespace kw::opencl {
namespace {

using ::testing::ElementsAre;

class OpenclLoad : public ::testing::Test {
 protected:
  OpenclLoad() {
    driver_.kernels = {{"k", std::vector<FakeArgument>(4), {}, 64, 0, 0}};
    LoadedPlan plan;
    plan.plan.buffers = {{"Q", BufferRole::input, DType::f32, 64}, {"O", BufferRole::output, DType::f32, 128}};
    plan.plan.launches = {{"k", {4, 2, 1}, {8, 1, 1}, 256, {BufferArg{1}, IntArg{-5}, SharedArg{}, BufferArg{0}}}};
    plan.slots = {{8192, 64}, {12288, 128}};
    request_ = {"opencl:0", k_arena_bytes, {"binary"}, {plan}};
  }
  Result<LaunchReply> load_and_launch(const Session& session, bool cold = false) {
    KW_TRY(const Loaded loaded, load(session, request_, arena_));
    driver_.calls.clear();
    return launch(session, loaded.plans.front(), cold);
  }

  static constexpr std::int64_t k_arena_bytes = 32768;
  FakeOpencl driver_;
  LoadRequest request_;
  std::array<std::byte, k_arena_bytes> arena_{};
};

TEST_F(OpenclLoad, on_a_cpu_the_buffers_are_the_arena_itself) {
  const auto loaded = load(driver_.session(), request_, arena_);
  ASSERT_TRUE(loaded) << loaded.error().to_string();
  EXPECT_THAT(driver_.calls,
              ElementsAre("binary", "build ", "buffer 64 in place", "buffer 128 in place", "set k 0: buffer",
                          "set k 1: int -5", "set k 2: shared 256", "set k 3: buffer"));
  EXPECT_EQ(loaded->plans.front().buffers.mirror, nullptr);
}

TEST_F(OpenclLoad, on_a_cpu_there_are_no_buffers_that_no_kernel_is_passed) {
  request_.plans[0].plan.buffers.insert(request_.plans[0].plan.buffers.begin(),
                                        {"X", BufferRole::input, DType::f32, 4096});
  request_.plans[0].slots.insert(request_.plans[0].slots.begin(), {16384, 4096});
  request_.plans[0].plan.launches[0].args = {BufferArg{2}, IntArg{-5}, SharedArg{}, BufferArg{1}};
  const auto loaded = load(driver_.session(), request_, arena_);
  ASSERT_TRUE(loaded) << loaded.error().to_string();
  EXPECT_THAT(driver_.calls,
              ElementsAre("binary", "build ", "buffer 64 in place", "buffer 128 in place", "set k 0: buffer",
                          "set k 1: int -5", "set k 2: shared 256", "set k 3: buffer"));
  EXPECT_EQ(loaded->plans.front().buffers.buffers[0], nullptr);
}

TEST_F(OpenclLoad, on_a_cpu_plans_share_the_buffers_that_they_have_in_common) {
  request_.plans.push_back(request_.plans[0]);
  request_.plans[1].slots[1].bytes = 64;  // the same input, and less of the output
  const auto loaded = load(driver_.session(), request_, arena_);
  ASSERT_TRUE(loaded) << loaded.error().to_string();
  const auto& first = loaded->plans[0].buffers.buffers;
  const auto& second = loaded->plans[1].buffers.buffers;
  EXPECT_EQ(first[0], second[0]);
  EXPECT_NE(first[1], second[1]);
  EXPECT_EQ(std::ranges::count(driver_.calls, "buffer 64 in place"), 2);
  EXPECT_EQ(std::ranges::count(driver_.calls, "buffer 128 in place"), 1);
}

TEST_F(OpenclLoad, on_a_gpu_one_buffer_mirrors_them_with_their_guards) {
  const auto loaded = load(driver_.session(DeviceKind::gpu), request_, arena_);
  ASSERT_TRUE(loaded) << loaded.error().to_string();
  // 4096 bytes of guard before 8192 and behind 12288 + 128.
  EXPECT_THAT(driver_.calls,
              ElementsAre("binary", "build ", "buffer 12416", "part 64 at 4096", "part 128 at 8192", "set k 0: buffer",
                          "set k 1: int -5", "set k 2: shared 256", "set k 3: buffer"));
}

TEST_F(OpenclLoad, mirrors_no_more_than_the_arena_has) {
  request_.plans[0].slots = {{0, 64}, {k_arena_bytes - 128, 128}};
  const auto loaded = load(driver_.session(DeviceKind::gpu), request_, arena_);
  ASSERT_TRUE(loaded) << loaded.error().to_string();
  EXPECT_EQ(loaded->plans.front().buffers.mirrored.size(), arena_.size());
}

TEST_F(OpenclLoad, turns_grid_and_block_into_the_global_size_of_opencl) {
  const auto loaded = load(driver_.session(), request_, arena_);
  ASSERT_TRUE(loaded) << loaded.error().to_string();
  const ReadyLaunch& ready = loaded->plans.front().launches.front();
  EXPECT_THAT(ready.global, ElementsAre(32, 2, 1));
  EXPECT_THAT(ready.local, ElementsAre(8, 1, 1));
}

TEST_F(OpenclLoad, names_the_call_that_was_refused) {
  const std::array cases{std::pair{"binary", "clCreateProgramWithBinary failed with CL_OUT_OF_RESOURCES"},
                         std::pair{"buffer 128", "clCreateBuffer(128 bytes) failed with CL_OUT_OF_RESOURCES"},
                         std::pair{"set k 1", "clSetKernelArg(k, argument 2) failed with CL_OUT_OF_RESOURCES"}};
  for (const auto& [refused, message] : cases) {
    driver_.refuses = refused;
    const auto loaded = load(driver_.session(), request_, arena_);
    ASSERT_FALSE(loaded) << refused;
    EXPECT_EQ(loaded.error().message, message);
  }
  driver_.refuses = "";
  driver_.build_status = CL_INVALID_BINARY;
  const auto built = load(driver_.session(), request_, arena_);
  ASSERT_FALSE(built);
  EXPECT_EQ(built.error().message, "clBuildProgram from a binary failed with CL_INVALID_BINARY");
}

TEST_F(OpenclLoad, checks_the_request_before_it_calls_anything) {
  request_.plans[0].slots[0].bytes = k_arena_bytes;
  const auto loaded = load(driver_.session(), request_, arena_);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().message, "a buffer at 8192 of 32768 bytes leaves the arena of 32768 bytes");
  EXPECT_TRUE(driver_.calls.empty());
}

TEST_F(OpenclLoad, launches_and_waits) {
  const auto launched = load_and_launch(driver_.session(), true);
  ASSERT_TRUE(launched) << launched.error().to_string();
  EXPECT_THAT(driver_.calls, ElementsAre("launch k 32 x 2 x 1 by 8 x 1 x 1", "finish"))
      << "nothing is copied or flushed on a CPU";
  EXPECT_GE(launched->claimed_ns, 0);
}

TEST_F(OpenclLoad, copies_and_flushes_on_a_gpu) {
  ASSERT_TRUE(load_and_launch(driver_.session(DeviceKind::gpu), true));
  EXPECT_THAT(driver_.calls, ElementsAre("write 12416", "buffer 2048", "flush 2048", "finish",
                                         "launch k 32 x 2 x 1 by 8 x 1 x 1", "finish", "read 12416"));
  ASSERT_TRUE(load_and_launch(driver_.session(DeviceKind::gpu), false));
  EXPECT_THAT(driver_.calls, ElementsAre("write 12416", "launch k 32 x 2 x 1 by 8 x 1 x 1", "finish", "read 12416"));
}

TEST_F(OpenclLoad, announces_inputs_to_a_device_that_tracks_writes) {
  Session session = driver_.session();
  session.device.tracks_writes = true;
  ASSERT_TRUE(load_and_launch(session));
  EXPECT_THAT(driver_.calls, ElementsAre("write 64", "launch k 32 x 2 x 1 by 8 x 1 x 1", "finish"));
}

TEST_F(OpenclLoad, sees_a_kernel_that_fails_after_it_was_queued) {
  driver_.event_status = CL_OUT_OF_RESOURCES;
  const auto failed = load_and_launch(driver_.session());
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "a launch failed with CL_OUT_OF_RESOURCES");
  driver_.event_status = CL_COMPLETE;
  driver_.launch_status = CL_INVALID_WORK_GROUP_SIZE;
  const auto refused = load_and_launch(driver_.session());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "clEnqueueNDRangeKernel failed with CL_INVALID_WORK_GROUP_SIZE");
}

}  // namespace
}  // namespace kw::opencl

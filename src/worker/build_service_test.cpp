// A build process and what it answers. All requests lie in the socket before it starts, so that no second thread is
// needed.

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>

#include "worker/services.hpp"
#include "worker/testing/forked_worker.hpp"

namespace kw {
namespace {

class BuildService : public ::testing::Test {
 protected:
  BuildService() {
    std::array<int, 2> ends{};
    KW_CHECK(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
    host_ = FrameChannel(UniqueFd(ends[0]));
    worker_socket_ = UniqueFd(ends[1]);
  }
  void post(const HostMessage& request) { ASSERT_TRUE(host_.send(encode(request), k_host_timeout)); }

  /// What it answers until it ends.
  std::vector<WorkerMessage> serve() {
    host_.hang_up();
    {
      Channel channel(worker_socket_.release());
      EXPECT_EQ(serve_builds(channel), 0);
    }
    std::vector<WorkerMessage> answers;
    for (std::string payload; host_.receive(payload, k_host_timeout) == FrameChannel::Received::frame;) {
      auto message = decode_worker_message(payload);
      if (!message) ADD_FAILURE() << message.error().to_string();
      if (message) answers.push_back(*std::move(message));
    }
    return answers;
  }

  FrameChannel host_{UniqueFd()};
  UniqueFd worker_socket_;
};

BuildRequest build_of(const std::string& source, const std::string& kernel) {
  return {"null", source, {}, {{kernel, {1, 1, 1}, {1, 1, 1}, 0, {}}}};
}

TEST_F(BuildService, describes_and_builds_one_request_after_the_other) {
  post(DescribeRequest{"null"});
  post(build_of("kernel a\nspin_us 1\n", "a"));
  post(build_of("kernel a\nspin_us 1\n", "b"));
  const auto answers = serve();
  ASSERT_EQ(answers.size(), 3U);
  const auto& described = std::get<DescribeReply>(answers[0]);
  ASSERT_EQ(described.devices.size(), 1U);
  EXPECT_EQ(described.devices[0].id, "null");
  EXPECT_EQ(std::get<BuildReply>(answers[1]).status, BuildStatus::ok);
  EXPECT_EQ(std::get<BuildReply>(answers[1]).binary, "kernel a\nspin_us 1\n");
  EXPECT_EQ(std::get<BuildReply>(answers[2]).status, BuildStatus::kernel_missing);
}

TEST_F(BuildService, says_which_device_it_cannot_open) {
  BuildRequest request = build_of("kernel a\n", "a");
  request.device_id = "null:7";
  post(request);
  const auto answers = serve();
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(std::get<LaunchFailure>(answers[0]).what,
            "the null device is called 'null', not 'null:7' [device.unavailable]");
}

TEST_F(BuildService, says_that_there_is_no_such_device) {
  post(DescribeRequest{"quantum"});
  const auto answers = serve();
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_TRUE(std::get<DescribeReply>(answers[0]).devices.empty());
  EXPECT_EQ(std::get<DescribeReply>(answers[0]).problem, "no runtime has a device 'quantum'");
}

TEST_F(BuildService, loads_and_launches_nothing) {
  post(LoadRequest{"null", 64, {"kernel a\n"}, {}});
  post(LaunchRequest{0, false});
  const auto answers = serve();
  ASSERT_EQ(answers.size(), 2U);
  for (const auto& answer : answers) {
    EXPECT_EQ(std::get<LaunchFailure>(answer).what, "a build process only describes and builds");
  }
}

TEST_F(BuildService, answers_what_came_before_a_malformed_message_and_ends) {
  post(DescribeRequest{"null"});
  ASSERT_TRUE(host_.send("\xff junk", k_host_timeout));
  post(DescribeRequest{"null"});
  EXPECT_EQ(serve().size(), 1U);
}

TEST_F(BuildService, ends_when_the_host_has_gone) {
  host_.close();
  Channel channel(worker_socket_.release());
  EXPECT_EQ(serve_builds(channel), 0);
}

TEST(BuildServiceThatDies, is_gone_as_its_compiler_is) {
  for (const char* how : {"crash", "exit"}) {
    ForkedWorker worker(
        [](int socket, int) {
          Channel channel(socket);
          ::_exit(serve_builds(channel));
        },
        64);
    EXPECT_FALSE(worker.ask(build_of(std::string("at_build ") + how + "\nkernel a\n", "a"))) << how;
    const int status = worker.finish();
    EXPECT_EQ(WIFSIGNALED(status), std::string(how) == "crash") << how;
  }
}

}  // namespace
}  // namespace kw

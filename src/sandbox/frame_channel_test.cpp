#include "sandbox/frame_channel.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <cstdlib>
#include <thread>

namespace kw {
namespace {

using Received = FrameChannel::Received;
constexpr Duration k_now = std::chrono::milliseconds(0);
constexpr Duration k_patient = std::chrono::seconds(10);
constexpr std::int64_t k_max_bytes = 1 << 20;

class FrameChannelTest : public ::testing::Test {
 protected:
  FrameChannelTest() { connect(SOCK_STREAM); }
  void connect(int type) {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends.data()) != 0) std::abort();
    here_ = FrameChannel(UniqueFd(ends[0]), k_max_bytes);
    raw_ = UniqueFd(ends[1]);
  }
  void write_raw(std::string_view bytes) const {
    ASSERT_EQ(::send(raw_.get(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  }

  FrameChannel here_{UniqueFd()};
  UniqueFd raw_;
  std::string payload_;
};

TEST_F(FrameChannelTest, a_frame_is_its_length_in_little_endian_and_its_bytes) {
  ASSERT_TRUE(here_.send("abc", k_patient));
  std::array<char, 16> bytes{};
  const ssize_t got = ::recv(raw_.get(), bytes.data(), bytes.size(), 0);
  EXPECT_EQ(std::string_view(bytes.data(), static_cast<std::size_t>(got)), std::string_view("\3\0\0\0abc", 7));
}

TEST_F(FrameChannelTest, two_frames_in_one_packet_come_one_by_one) {
  write_raw(std::string_view("\1\0\0\0a\0\0\0\0", 9));
  EXPECT_EQ(here_.receive(payload_, k_patient), Received::frame);
  EXPECT_EQ(payload_, "a");
  EXPECT_EQ(here_.receive(payload_, k_patient), Received::frame);
  EXPECT_EQ(payload_, "");
}

TEST_F(FrameChannelTest, half_a_frame_times_out_and_is_kept) {
  write_raw(std::string_view("\3\0\0\0a", 5));
  EXPECT_EQ(here_.receive(payload_, k_now), Received::timed_out);
  write_raw("bc");
  EXPECT_EQ(here_.receive(payload_, k_patient), Received::frame);
  EXPECT_EQ(payload_, "abc");
}

TEST_F(FrameChannelTest, a_sender_that_dribbles_cannot_stretch_the_deadline) {
  connect(SOCK_SEQPACKET);  // hands out the bytes one by one although all of them are there
  write_raw(std::string_view("\4\0\0\0", 4));
  for (const char* const piece : {"a", "b", "c", "d"}) write_raw(piece);
  EXPECT_EQ(here_.receive(payload_, k_now), Received::timed_out);
  EXPECT_EQ(here_.receive(payload_, k_patient), Received::frame);
  EXPECT_EQ(payload_, "abcd");
}

TEST_F(FrameChannelTest, an_announced_length_over_the_limit_closes_the_channel_and_allocates_nothing) {
  write_raw(std::string_view("\xff\xff\xff\xff", 4));
  EXPECT_EQ(here_.receive(payload_, k_patient), Received::oversized);
  EXPECT_EQ(here_.receive(payload_, k_patient), Received::closed);
}

TEST_F(FrameChannelTest, a_frame_over_the_limit_is_not_sent) {
  EXPECT_FALSE(here_.send(std::string(k_max_bytes + 1, 'x'), k_patient));
}

TEST_F(FrameChannelTest, the_end_of_the_other_side_is_told_in_the_middle_of_a_frame_too) {
  write_raw(std::string_view("\3\0\0\0a", 5));
  raw_.reset();
  EXPECT_EQ(here_.receive(payload_, k_patient), Received::closed);
  EXPECT_FALSE(here_.send("x", k_patient));
}

TEST_F(FrameChannelTest, an_other_side_that_does_not_read_costs_the_deadline_and_the_channel) {
  EXPECT_FALSE(here_.send(std::string(k_max_bytes, 'x'), std::chrono::milliseconds(20)));
  EXPECT_EQ(here_.receive(payload_, k_patient), Received::closed);
}

TEST_F(FrameChannelTest, waits_for_ever_where_no_deadline_is_set) {
  const std::string sent(k_max_bytes, 'z');
  std::string got;
  std::thread other([this, &got] {
    FrameChannel there(std::move(raw_), k_max_bytes);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(there.receive(got, FrameChannel::k_for_ever), Received::frame);
    EXPECT_TRUE(there.send("an answer", FrameChannel::k_for_ever));
  });
  EXPECT_TRUE(here_.send(sent, FrameChannel::k_for_ever));
  EXPECT_EQ(here_.receive(payload_, FrameChannel::k_for_ever), Received::frame);
  other.join();
  EXPECT_EQ(got, sent);
  EXPECT_EQ(payload_, "an answer");
  EXPECT_EQ(here_.receive(payload_, FrameChannel::k_for_ever), Received::closed);
}

TEST_F(FrameChannelTest, large_frames_pass_while_the_other_side_reads) {
  const std::string sent(k_max_bytes, 'y');
  std::thread sender([this, &sent] {
    FrameChannel there(std::move(raw_), k_max_bytes);
    EXPECT_TRUE(there.send(sent, k_patient));
  });
  EXPECT_EQ(here_.receive(payload_, k_patient), Received::frame);
  sender.join();
  EXPECT_EQ(payload_, sent);
}

}  // namespace
}  // namespace kw

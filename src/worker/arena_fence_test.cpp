// Which pages a fence closes, asked of the system: reading through a pipe fails where memory cannot be read.

#include "worker/arena_fence.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <span>
#include <string>

#include "device/device.hpp"

namespace kw {
namespace {

class Fence : public ::testing::Test {
 public:
  Fence(const Fence&) = delete;
  Fence& operator=(const Fence&) = delete;

 protected:
  Fence() {
    EXPECT_EQ(::pipe2(ends_.data(), O_CLOEXEC | O_NONBLOCK), 0);
    void* memory = ::mmap(nullptr, 8 * page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(memory, MAP_FAILED);
    arena_ = {static_cast<std::byte*>(memory), 8 * page_};
  }
  ~Fence() override {
    ::munmap(arena_.data(), arena_.size());
    for (const int end : ends_) ::close(end);
  }
  [[nodiscard]] bool can_be_read(std::size_t offset) const {
    std::byte back{};
    return ::write(ends_[1], arena_.data() + offset, 1) == 1 && ::read(ends_[0], &back, 1) == 1;
  }
  /// One letter for each page: o for open, x for closed.
  [[nodiscard]] std::string pages() const {
    std::string letters;
    for (std::size_t i = 0; i < arena_.size(); i += page_) letters += can_be_read(i) ? 'o' : 'x';
    return letters;
  }
  /// A slot that begins `before` bytes in front of page `page` and ends `behind` it.
  [[nodiscard]] ArenaSlot slot(std::size_t page, std::int64_t before, std::int64_t behind) const {
    return {static_cast<std::int64_t>(page * page_) - before, before + behind};
  }

  std::size_t page_ = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  std::array<int, 2> ends_{};
  std::span<std::byte> arena_;
};

TEST_F(Fence, closes_the_pages_that_hold_no_buffer_of_the_plan) {
  ArenaFence fence(arena_, {{slot(5, 100, 1), slot(2, 100, 0)}, {slot(3, 0, 10)}, {}});
  EXPECT_EQ(pages(), "oooooooo");
  ASSERT_TRUE(fence.around(0));
  EXPECT_EQ(pages(), "xoxxooxx");
  ASSERT_TRUE(fence.around(1));
  EXPECT_EQ(pages(), "xxxoxxxx");
  ASSERT_TRUE(fence.around(0));
  EXPECT_EQ(pages(), "xoxxooxx");
  ASSERT_TRUE(fence.around(2));
  EXPECT_EQ(pages(), "xxxxxxxx");
}

TEST_F(Fence, leaves_a_plan_that_does_not_exist_to_the_device) {
  ArenaFence fence(arena_, {{slot(1, 0, 1)}});
  ASSERT_TRUE(fence.around(0));
  EXPECT_TRUE(fence.around(1));
  EXPECT_TRUE(fence.around(-1));
  EXPECT_EQ(pages(), "xoxxxxxx");
}

TEST_F(Fence, leaves_what_was_written_where_it_was) {
  arena_[page_] = std::byte{42};
  arena_[6 * page_] = std::byte{43};
  ArenaFence fence(arena_, {{slot(1, 0, 1)}, {slot(6, 0, 1)}});
  ASSERT_TRUE(fence.around(0));
  EXPECT_EQ(arena_[page_], std::byte{42});
  ASSERT_TRUE(fence.around(1));
  EXPECT_EQ(arena_[6 * page_], std::byte{43});
}

TEST_F(Fence, says_when_the_system_refuses) {
  ArenaFence fence(arena_, {{slot(1, 0, 1)}});
  ASSERT_EQ(::munmap(arena_.data() + 7 * page_, page_), 0);
  const auto done = fence.around(0);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, errc::device_refused);
  EXPECT_EQ(done.error().message,
            fmt::format("{} bytes around buffers cannot be closed: Cannot allocate memory", arena_.size()));
}

}  // namespace
}  // namespace kw

#include "base/file_lock.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>

#include "base/testing/scratch_directory.hpp"

namespace kw {
namespace {

class FileLockTest : public ::testing::Test {
 protected:
  [[nodiscard]] bool taken(FileLock::Kind kind) const {
    const auto lock = FileLock::try_take(file_, kind);
    EXPECT_TRUE(lock) << lock.error().to_string();
    return lock && lock->has_value();
  }
  ScratchDirectory scratch_;
  std::filesystem::path file_ = scratch_.path() / "lock";
};

TEST_F(FileLockTest, shared_ones_stand_beside_each_other_and_an_exclusive_one_alone) {
  {
    const auto shared = FileLock::try_take(file_, FileLock::Kind::shared);
    ASSERT_TRUE(shared && *shared);
    EXPECT_TRUE(taken(FileLock::Kind::shared));
    EXPECT_FALSE(taken(FileLock::Kind::exclusive));
  }
  const auto exclusive = FileLock::try_take(file_, FileLock::Kind::exclusive);
  ASSERT_TRUE(exclusive && *exclusive) << "the shared ones are gone";
  EXPECT_FALSE(taken(FileLock::Kind::shared));
}

TEST_F(FileLockTest, a_killed_process_leaves_none) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto lock = FileLock::try_take(file_, FileLock::Kind::exclusive);
    const char held = lock && *lock ? 'y' : 'n';
    if (::write(ends[1], &held, 1) != 1) ::_exit(1);
    for (;;) ::pause();
  }
  char held = 0;
  ASSERT_EQ(::read(ends[0], &held, 1), 1);
  EXPECT_EQ(held, 'y');
  EXPECT_FALSE(taken(FileLock::Kind::exclusive));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(taken(FileLock::Kind::exclusive));
}

TEST_F(FileLockTest, says_where_no_lock_can_be_made) {
  const auto lock = FileLock::try_take(scratch_.path() / "none" / "lock", FileLock::Kind::shared);
  ASSERT_FALSE(lock);
  EXPECT_EQ(lock.error().code, errc::io);
  EXPECT_NE(lock.error().message.find("none/lock: No such file or directory"), std::string::npos);
}

}  // namespace
}  // namespace kw

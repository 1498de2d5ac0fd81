#include "verify/processes/device_lock.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <thread>

#include "base/testing/scratch_directory.hpp"

namespace kw {
namespace {

namespace fs = std::filesystem;

class DeviceLockTest : public ::testing::Test {
 protected:
  void SetUp() override {
    gpu_.id = "cuda:0";
    gpu_.kind = DeviceKind::gpu;
  }
  /// Whether nobody holds it who stands against such a lock.
  [[nodiscard]] bool is_free(int operation = LOCK_EX) const {
    const UniqueFd file(::open((folder_ / "kernelwright-cuda-0.lock").c_str(), O_RDONLY));
    return file.valid() && ::flock(file.get(), operation | LOCK_NB) == 0;
  }
  ScratchDirectory scratch_;
  fs::path folder_ = scratch_.path();
  DeviceFacts gpu_;
};

TEST_F(DeviceLockTest, is_taken_while_it_is_held_and_free_afterwards) {
  const DeviceLock lock(gpu_, folder_);
  EXPECT_TRUE(is_free());
  {
    const auto hold = lock.hold(DeviceLock::Kind::alone);
    EXPECT_FALSE(is_free(LOCK_SH));
  }
  EXPECT_TRUE(is_free());
}

TEST_F(DeviceLockTest, is_shared_by_untimed_launches) {
  const DeviceLock one(gpu_, folder_);
  const DeviceLock other(gpu_, folder_);
  {
    const auto first = one.hold(DeviceLock::Kind::beside_untimed);
    const auto second = other.hold(DeviceLock::Kind::beside_untimed);
    EXPECT_TRUE(is_free(LOCK_SH));
    EXPECT_FALSE(is_free()) << "a timed launch waits";
  }
  EXPECT_TRUE(is_free());
}

TEST_F(DeviceLockTest, untimed_launches_do_not_pass_one_that_waits) {
  const DeviceLock holder(gpu_, folder_);
  const DeviceLock timed(gpu_, folder_);
  const UniqueFd queue(::open((folder_ / "kernelwright-cuda-0.queue.lock").c_str(), O_RDONLY));
  const auto somebody_waits = [&] {
    if (::flock(queue.get(), LOCK_SH | LOCK_NB) != 0) return true;
    ::flock(queue.get(), LOCK_UN);
    return false;
  };
  std::thread waiting;
  {
    const auto untimed = holder.hold(DeviceLock::Kind::beside_untimed);
    waiting = std::thread([&] { const auto hold = timed.hold(DeviceLock::Kind::alone); });
    const auto given_up = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!somebody_waits() && std::chrono::steady_clock::now() < given_up) std::this_thread::yield();
    EXPECT_TRUE(somebody_waits()) << "others could begin before the timed one";
  }
  waiting.join();
  EXPECT_TRUE(is_free());
}

TEST_F(DeviceLockTest, other_devices_need_none) {
  gpu_.kind = DeviceKind::cpu;
  const DeviceLock lock(gpu_, folder_);
  const auto hold = lock.hold(DeviceLock::Kind::alone);
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(DeviceLockTest, a_folder_that_cannot_be_written_does_not_stop_anybody) {
  const DeviceLock one(gpu_, folder_ / "absent");
  const DeviceLock other(gpu_, folder_ / "absent");
  const auto first = one.hold(DeviceLock::Kind::alone);
  const auto second =
      other.hold(DeviceLock::Kind::alone);  // would wait for ever if the two shared a file somewhere else
  EXPECT_TRUE(fs::is_empty(folder_));
}

}  // namespace
}  // namespace kw

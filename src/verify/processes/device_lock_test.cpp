#include "verify/processes/device_lock.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>

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
  [[nodiscard]] bool is_free() const {
    const UniqueFd file(::open((folder_ / "kernelwright-cuda-0.lock").c_str(), O_RDONLY));
    return file.valid() && ::flock(file.get(), LOCK_EX | LOCK_NB) == 0;
  }
  ScratchDirectory scratch_;
  fs::path folder_ = scratch_.path();
  DeviceFacts gpu_;
};

TEST_F(DeviceLockTest, is_taken_while_it_is_held_and_free_afterwards) {
  const DeviceLock lock(gpu_, folder_);
  EXPECT_TRUE(is_free());
  {
    const auto hold = lock.hold();
    EXPECT_FALSE(is_free());
  }
  EXPECT_TRUE(is_free());
}

TEST_F(DeviceLockTest, other_devices_need_none) {
  gpu_.kind = DeviceKind::cpu;
  const DeviceLock lock(gpu_, folder_);
  const auto hold = lock.hold();
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(DeviceLockTest, a_folder_that_cannot_be_written_does_not_stop_anybody) {
  const DeviceLock one(gpu_, folder_ / "absent");
  const DeviceLock other(gpu_, folder_ / "absent");
  const auto first = one.hold();
  const auto second = other.hold();  // would wait for ever if the two shared a file somewhere else
  EXPECT_TRUE(fs::is_empty(folder_));
}

}  // namespace
}  // namespace kw

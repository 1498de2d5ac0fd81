#include "verify/device_lock.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>

namespace kw {
namespace {

namespace fs = std::filesystem;

class DeviceLockTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "kw_lock_XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    gpu_.id = "cuda:0";
    gpu_.kind = DeviceKind::gpu;
  }
  void TearDown() override { fs::remove_all(folder_); }
  [[nodiscard]] bool is_free() const {
    const UniqueFd file(::open((folder_ / "kernelwright-cuda-0.lock").c_str(), O_RDONLY));
    return file.valid() && ::flock(file.get(), LOCK_EX | LOCK_NB) == 0;
  }
  fs::path folder_;
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
  const DeviceLock lock(gpu_, folder_ / "absent");
  const auto hold = lock.hold();
  SUCCEED();
}

}  // namespace
}  // namespace kw

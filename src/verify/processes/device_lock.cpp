#include "verify/processes/device_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

namespace kw {
namespace {

namespace fs = std::filesystem;

fs::path lock_folder() {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && *runtime != '\0') return runtime;
  std::error_code error;
  return fs::temp_directory_path(error);
}

std::string file_name(std::string device) {
  std::replace_if(
      device.begin(), device.end(), [](char c) { return c == ':' || c == '/'; }, '-');
  return "kernelwright-" + device + ".lock";
}

}  // namespace

DeviceLock::DeviceLock(const DeviceFacts& device, const fs::path& folder) {
  if (device.kind != DeviceKind::gpu) return;
  const fs::path path = (folder.empty() ? lock_folder() : folder) / file_name(device.id);
  file_ = UniqueFd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
  // Another user's file, which the system may protect against being opened for writing, serves as well.
  if (!file_.valid()) file_ = UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
}

DeviceLock::Hold::Hold(int file) : file_(file) {
  while (file_ >= 0 && ::flock(file_, LOCK_EX) != 0 && errno == EINTR) continue;
}

DeviceLock::Hold::~Hold() {
  if (file_ >= 0) ::flock(file_, LOCK_UN);
}

}  // namespace kw

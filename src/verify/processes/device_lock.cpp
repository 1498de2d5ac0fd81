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
  return "kernelwright-" + device;
}

/// Another user's file, which the system may protect against being opened for writing, serves as well.
UniqueFd open_to_lock(const fs::path& path) {
  UniqueFd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
  return file.valid() ? std::move(file) : UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
}

void lock(int file, int operation) {
  while (file >= 0 && ::flock(file, operation) != 0 && errno == EINTR) continue;
}

}  // namespace

DeviceLock::DeviceLock(const DeviceFacts& device, const fs::path& folder) {
  if (device.kind != DeviceKind::gpu) return;
  const fs::path path = (folder.empty() ? lock_folder() : folder) / file_name(device.id);
  file_ = open_to_lock(path.string() + ".lock");
  queue_ = open_to_lock(path.string() + ".queue.lock");
}

/// The system hands out a lock to whoever may have it, so that launches beside each other, one beginning before the
/// last has ended, would keep others out for ever. Nobody passes one who waits in the queue.
DeviceLock::Hold::Hold(int file, int queue, Kind kind) : file_(file) {
  lock(queue, LOCK_EX);
  lock(file_, kind == Kind::alone ? LOCK_EX : LOCK_SH);
  lock(queue, LOCK_UN);
}

DeviceLock::Hold::~Hold() {
  lock(file_, LOCK_UN);
}

}  // namespace kw

#include "base/file_system.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "base/unique_fd.hpp"

namespace kw {
namespace {

Error io_error(const std::filesystem::path& path, const char* doing, int error_number) {
  if (error_number == ENOSPC || error_number == EDQUOT) {
    return Error{errc::disk_full, fmt::format("the disk is full: cannot {} {}", doing, path.string()),
                 "free some space, then resume the run; what was written before is kept"};
  }
  if (error_number == ENOENT) return Error{errc::not_found, fmt::format("{} does not exist", path.string())};
  return Error{errc::io, fmt::format("cannot {} {}: {}", doing, path.string(), std::strerror(error_number))};
}

Result<void> write_all(int fd, std::string_view bytes, const std::filesystem::path& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return fail(io_error(path, "write", errno));
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  if (::fsync(fd) != 0) return fail(io_error(path, "write", errno));
  return {};
}

/// What `mode` says that is no file, for a message; null for a file.
const char* other_kind(mode_t mode) {
  if (S_ISREG(mode)) return nullptr;
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

Error not_a_file(const std::filesystem::path& path, const char* kind) {
  return Error{errc::not_a_file, fmt::format("{} is {}, not a file", path.string(), kind), "name a regular file"};
}

/// Opens without blocking, as a pipe that nobody writes to would. A socket cannot be opened at all.
Result<UniqueFd> open_file(const std::filesystem::path& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd.valid() && errno == ENXIO) return fail(not_a_file(path, "a socket"));
  if (!fd.valid()) return fail(io_error(path, "read", errno));
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) return fail(io_error(path, "read", errno));
  if (const char* kind = other_kind(status.st_mode)) return fail(not_a_file(path, kind));
  return fd;
}

}  // namespace

Result<std::string> RealFileSystem::read(const std::filesystem::path& path, std::int64_t max_bytes) const {
  KW_TRY(const UniqueFd fd, open_file(path));
  std::string bytes;
  char buffer[1 << 16];
  for (;;) {
    const ssize_t got = ::read(fd.get(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(io_error(path, "read", errno));
    if (got == 0) return bytes;
    bytes.append(buffer, static_cast<std::size_t>(got));
    if (static_cast<std::int64_t>(bytes.size()) > max_bytes) {
      return fail(errc::too_large, "{} is larger than the {} bytes allowed here", path.string(), max_bytes);
    }
  }
}

Result<void> RealFileSystem::write_atomic(const std::filesystem::path& path, std::string_view bytes) {
  const std::filesystem::path temporary = path.string() + fmt::format(".tmp{}", ::getpid());
  UniqueFd fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!fd.valid()) return fail(io_error(temporary, "create", errno));
  if (auto written = write_all(fd.get(), bytes, temporary); !written) {
    ::unlink(temporary.c_str());
    return written;
  }
  fd.reset();
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    const int error_number = errno;
    ::unlink(temporary.c_str());
    return fail(io_error(path, "replace", error_number));
  }
  // Without this the rename itself may be lost with the power; failing to open the directory loses only that promise.
  const std::filesystem::path parent = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  const UniqueFd directory(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.valid()) ::fsync(directory.get());
  return {};
}

Result<void> RealFileSystem::create_directories(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return fail(io_error(path, "create directory", error.value()));
  return {};
}

bool RealFileSystem::exists(const std::filesystem::path& path) const {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

Result<std::filesystem::path> executable_directory() {
  std::error_code error;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return fail(errc::io, "cannot find the running executable: {}", error.message());
  return path.parent_path();
}

}  // namespace kw

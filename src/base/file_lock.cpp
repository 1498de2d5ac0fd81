#include "base/file_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <cstring>

namespace kw {

Result<std::optional<FileLock>> FileLock::try_take(const std::filesystem::path& file, Kind kind) {
  UniqueFd fd(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!fd.valid()) return fail(errc::io, "cannot open {}: {}", file.string(), std::strerror(errno));
  // Of the open file, not of the process as with fcntl: two locks of one process stand against each other too.
  const int operation = kind == Kind::shared ? LOCK_SH : LOCK_EX;
  while (::flock(fd.get(), operation | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return std::nullopt;
    if (errno != EINTR) return fail(errc::io, "cannot lock {}: {}", file.string(), std::strerror(errno));
  }
  return FileLock(std::move(fd));
}

}  // namespace kw

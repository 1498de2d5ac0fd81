#include "sandbox/private_directory.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <utility>

#include "sandbox/sandbox.hpp"

namespace kw {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view k_prefix = "kernelwright-";
// Between mkdtemp and flock a directory looks abandoned.
constexpr std::time_t k_young_seconds = 60;

fs::path parent_directory() {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  return error ? fs::path("/tmp") : parent;
}

UniqueFd open_directory(const fs::path& path) {
  return UniqueFd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

// The host that made it holds a lock on it for as long as it lives.
bool is_abandoned(const fs::path& path) {
  const UniqueFd directory = open_directory(path);
  struct stat status {};
  if (!directory.valid() || ::fstat(directory.get(), &status) != 0 || status.st_uid != ::geteuid()) return false;
  if (std::time(nullptr) - status.st_mtime < k_young_seconds) return false;
  return ::flock(directory.get(), LOCK_EX | LOCK_NB) == 0;
}

}  // namespace

void remove_stale_private_directories() {
  std::error_code error;
  for (fs::directory_iterator entry(parent_directory(), error), end; !error && entry != end; entry.increment(error)) {
    std::error_code ignored;
    const std::string name = entry->path().filename();
    if (name.starts_with(k_prefix) && is_abandoned(entry->path())) fs::remove_all(entry->path(), ignored);
  }
}

Result<PrivateDirectory> PrivateDirectory::create() {
  std::string name = parent_directory() / (std::string(k_prefix) + "XXXXXX");
  if (::mkdtemp(name.data()) == nullptr) {
    Error failure{errc::sandbox_failed, fmt::format("cannot create {}: {}", name, std::strerror(errno))};
    failure.hint = "point TMPDIR to a directory you can write to";
    return fail(std::move(failure));
  }
  std::error_code error;
  const fs::path path = fs::canonical(name, error);
  return PrivateDirectory(error ? fs::path(name) : path);
}

PrivateDirectory::PrivateDirectory(fs::path path)
    : path_(std::move(path)), lock_(open_directory(path_)), parent_(open_directory(path_.parent_path())) {
  if (lock_.valid()) ::flock(lock_.get(), LOCK_EX | LOCK_NB);
}

PrivateDirectory::PrivateDirectory(PrivateDirectory&& other) noexcept
    : path_(std::exchange(other.path_, {})), lock_(std::move(other.lock_)), parent_(std::move(other.parent_)) {}

PrivateDirectory::~PrivateDirectory() {
  if (path_.empty()) return;
  std::error_code ignored;  // a directory that cannot be removed costs disk space, never the run
  fs::remove_all(path_, ignored);
}

}  // namespace kw

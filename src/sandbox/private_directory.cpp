#include "sandbox/private_directory.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "sandbox/sandbox.hpp"

namespace kw {

Result<PrivateDirectory> PrivateDirectory::create() {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  std::string name = (error ? std::filesystem::path("/tmp") : parent) / "kernelwright-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) {
    Error failure{errc::sandbox_failed, fmt::format("cannot create {}: {}", name, std::strerror(errno))};
    failure.hint = "point TMPDIR to a directory you can write to";
    return fail(std::move(failure));
  }
  return PrivateDirectory(std::filesystem::canonical(name));
}

PrivateDirectory::PrivateDirectory(PrivateDirectory&& other) noexcept : path_(std::exchange(other.path_, {})) {}

PrivateDirectory::~PrivateDirectory() {
  if (path_.empty()) return;
  std::error_code ignored;  // a directory that cannot be removed costs disk space, never the run
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace kw

#pragma once
// A fresh directory that only one sandboxed process writes to. Internal to the sandbox.

#include <filesystem>

#include "base/result.hpp"

namespace kw {

class PrivateDirectory {
 public:
  /// Under $TMPDIR or /tmp, mode 0700.
  [[nodiscard]] static Result<PrivateDirectory> create();
  PrivateDirectory(PrivateDirectory&& other) noexcept;
  PrivateDirectory& operator=(PrivateDirectory&& other) = delete;
  PrivateDirectory(const PrivateDirectory&) = delete;
  /// Removes it with all it holds; what cannot be removed stays.
  ~PrivateDirectory();

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  explicit PrivateDirectory(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace kw

#pragma once
// A fresh directory that only one sandboxed process writes to. Internal to the sandbox.

#include <filesystem>

#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace kw {

/// Removes what hosts that were killed have left behind, of this user and older than a minute.
void remove_stale_private_directories();

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
  /// The open directory it lies in.
  [[nodiscard]] int parent() const { return parent_.get(); }

 private:
  explicit PrivateDirectory(std::filesystem::path path);
  std::filesystem::path path_;
  UniqueFd lock_;  ///< held while this process lives; the supervisor closes its copy
  UniqueFd parent_;
};

}  // namespace kw

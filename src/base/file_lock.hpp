#pragma once
// Locks between processes, kept by the system for as long as a process lives: a killed one leaves none behind.

#include <filesystem>
#include <optional>

#include "base/result.hpp"
#include "base/unique_fd.hpp"

namespace kw {

/// Held until it is destroyed. The file that it locks is of no other use and stays where it is: removing it would let
/// two processes hold locks on two files of the same name. Programs that are started do not inherit it.
class FileLock {
 public:
  enum class Kind {
    shared,     ///< beside other shared ones
    exclusive,  ///< alone
  };
  /// Never waits: nothing when another process, or another lock of this one, stands against it. Makes the file, but not
  /// its folder; errc::io when it cannot be made or the file system knows no locks.
  [[nodiscard]] static Result<std::optional<FileLock>> try_take(const std::filesystem::path& file, Kind kind);

 private:
  explicit FileLock(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
};

}  // namespace kw

#pragma once
// The few file operations the program needs, behind an interface so that a full disk can be tested without filling one.
// Writes are atomic: a reader, or a run that was killed, sees the old file or the new one, never half of it.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace kw {

namespace errc {
/// A directory, a pipe or a device where a file is read.
inline constexpr ErrorCode not_a_file{"base.not_a_file", ExitClass::usage};
}  // namespace errc

class FileSystem {
 public:
  virtual ~FileSystem() = default;
  /// The whole file; errc::not_found, errc::io, errc::not_a_file, or errc::too_large past max_bytes. Never waits for
  /// a writer, as reading a pipe would.
  [[nodiscard]] virtual Result<std::string> read(const std::filesystem::path& path, std::int64_t max_bytes) const = 0;
  /// Writes to a temporary file beside `path`, fsyncs, renames. errc::disk_full names the path and what remains safe.
  [[nodiscard]] virtual Result<void> write_atomic(const std::filesystem::path& path, std::string_view bytes) = 0;
  [[nodiscard]] virtual Result<void> create_directories(const std::filesystem::path& path) = 0;
  [[nodiscard]] virtual bool exists(const std::filesystem::path& path) const = 0;
};

class RealFileSystem final : public FileSystem {
 public:
  [[nodiscard]] Result<std::string> read(const std::filesystem::path& path, std::int64_t max_bytes) const override;
  [[nodiscard]] Result<void> write_atomic(const std::filesystem::path& path, std::string_view bytes) override;
  [[nodiscard]] Result<void> create_directories(const std::filesystem::path& path) override;
  [[nodiscard]] bool exists(const std::filesystem::path& path) const override;
};

/// The directory of the running executable; the worker executable and, in a build tree, the problems are found from it.
[[nodiscard]] Result<std::filesystem::path> executable_directory();

}  // namespace kw

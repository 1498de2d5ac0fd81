#pragma once
// For tests and benchmarks: a directory that nobody else has, also not the same test in another process.

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "base/result.hpp"

namespace kw {

/// Goes with the object, and all that is in it.
class ScratchDirectory {
 public:
  ScratchDirectory() {
    std::string name = std::filesystem::temp_directory_path() / "kw-test-XXXXXX";
    KW_CHECK(::mkdtemp(name.data()) != nullptr, "no directory {} can be made", name);
    path_ = name;
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  ~ScratchDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace kw

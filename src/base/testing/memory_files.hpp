#pragma once
// Files that exist in a test alone.

#include <map>
#include <string>

#include "base/file_system.hpp"

namespace kw {

class MemoryFiles final : public FileSystem {
 public:
  std::map<std::string, std::string> all;  ///< by path

  [[nodiscard]] Result<std::string> read(const std::filesystem::path& path, std::int64_t max_bytes) const override {
    const auto found = all.find(path.string());
    if (found == all.end()) return fail(errc::not_found, "{} is not there", path.string());
    if (static_cast<std::int64_t>(found->second.size()) <= max_bytes) return found->second;
    return fail(errc::too_large, "{} is larger than {} bytes", path.string(), max_bytes);
  }
  [[nodiscard]] Result<void> write_atomic(const std::filesystem::path&, std::string_view) override { return {}; }
  [[nodiscard]] Result<void> create_directories(const std::filesystem::path&) override { return {}; }
  [[nodiscard]] bool exists(const std::filesystem::path& path) const override { return all.count(path.string()) > 0; }
};

}  // namespace kw

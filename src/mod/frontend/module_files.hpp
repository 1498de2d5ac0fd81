#pragma once
// The Python files that a mod imports from. Only those in the folder of the file that the user named and below it, by
// the names of modules, which hold neither slashes nor "..". They are read, never executed.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.hpp"
#include "base/result.hpp"

namespace kw {

/// Of one file with mods, and of all that one imports from together.
inline constexpr std::int64_t k_max_mod_file_bytes = std::int64_t{1} << 20;
inline constexpr std::int64_t k_max_imported_bytes = std::int64_t{4} << 20;
inline constexpr std::size_t k_max_imported_files = 64;

class ModuleFiles {
 public:
  /// `named` is the path of the file that the user named. `files` must outlive it.
  ModuleFiles(const FileSystem& files, const std::filesystem::path& named) : files_(files), named_(named) {}

  struct Found {
    std::string path;
    std::string below;     ///< the same from the folder of the named file on
    bool package = false;  ///< an __init__.py
    bool named = false;    ///< the named file itself, which is not read again
    std::string text;      ///< as python_file_text() gives it
  };
  /// The file of "pkg.masks": pkg/masks/__init__.py or else pkg/masks.py; nothing when there is neither. Each is asked
  /// for once. errc::mod_limit past the bounds above; what base and python_file_text() refuse.
  [[nodiscard]] Result<std::optional<Found>> read(std::string_view module);
  [[nodiscard]] bool exists(std::string_view module) const;
  /// "masks.py or masks/__init__.py" with the folder.
  [[nodiscard]] std::string looked_for(std::string_view module) const;
  [[nodiscard]] std::string named() const { return named_.string(); }

  struct Kept {
    std::string path;  ///< as it was asked of the file system
    std::string below;
    std::string bytes;
  };
  /// Everything that was read.
  [[nodiscard]] const std::vector<Kept>& kept() const { return kept_; }

 private:
  [[nodiscard]] static std::string below(std::string_view module, bool package);
  [[nodiscard]] std::filesystem::path path_of(std::string_view module, bool package) const;

  const FileSystem& files_;
  std::filesystem::path named_;
  std::vector<Kept> kept_;
  std::int64_t bytes_ = 0;
};

}  // namespace kw

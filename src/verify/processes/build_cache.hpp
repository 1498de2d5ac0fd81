#pragma once
// Builds of this program's own sources, kept on disk from run to run. An entry is found by the SHA-256 of everything
// that it depends on: the request as it goes to the worker (text, definitions, launches, compiler), the device that
// compiles, and the toolchain (toolchain_stamp.hpp). It is read back as any answer of a worker, and a damaged one is as
// if it were not there. Several programs may use one folder at a time. Only builds of processes that never compiled a
// foreign source may be kept: the caller sees to that.

#include <cstdint>
#include <filesystem>
#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "base/hash.hpp"
#include "protocol/messages.hpp"

namespace kw {

/// A PoCL kernel takes 20 to 200 KB, a cubin about as much.
inline constexpr std::int64_t k_most_cached_bytes = std::int64_t{512} << 20;

struct BuildCacheSize {
  std::int64_t builds = 0;
  std::int64_t bytes = 0;
};

class BuildCache {
 public:
  /// Makes `directory` when the first build is kept, for this user alone; one that others may write is not used.
  /// `compiler` names who compiles. When there are more than `most_bytes`, those go that were used least lately, until
  /// a quarter is free.
  BuildCache(std::filesystem::path directory, std::string compiler, std::shared_future<Hash> toolchain,
             std::int64_t most_bytes = k_most_cached_bytes);

  /// Threads: all of these may be called at once.
  [[nodiscard]] std::optional<BuildReply> find(const BuildRequest& request);
  /// A build that succeeded. A folder that cannot be written keeps nothing.
  void keep(const BuildRequest& request, const BuildReply& reply);
  /// Forgets those that find() gave and that cannot be loaded.
  void forget(std::span<const std::string> binaries);
  /// How often find() gave a build.
  [[nodiscard]] std::int64_t found() const;

 private:
  [[nodiscard]] std::filesystem::path place_of(const BuildRequest& request) const;
  void make_room(std::int64_t added);

  const std::filesystem::path directory_;
  const std::string compiler_;
  const std::shared_future<Hash> toolchain_;
  const std::int64_t most_bytes_;
  mutable std::mutex mutex_;
  std::map<Hash, std::filesystem::path> given_;  ///< by their binaries
  std::int64_t found_ = 0;
  std::optional<std::int64_t> bytes_;  ///< in the folder, as far as this program knows; nothing: not looked yet
};

/// Of the builds in a cache's folder.
[[nodiscard]] BuildCacheSize size_of_build_cache(const std::filesystem::path& directory);

}  // namespace kw

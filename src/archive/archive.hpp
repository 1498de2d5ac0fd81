#pragma once
// The store of everything a run saw: one SQLite file in WAL mode. One writer (the loop), many readers; a run killed at
// any instant loses at most the attempt in flight, and attempts are keyed by (run, ordinal), so that a resumed run
// cannot count one twice. Schema version in PRAGMA user_version; opening a newer one is refused. Enum values on disk
// are those of the record headers.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "record/attempt.hpp"
#include "record/run_record.hpp"

namespace kw {

namespace errc {
inline constexpr ErrorCode archive_open{"archive.open", ExitClass::environment};
inline constexpr ErrorCode archive_version{"archive.version", ExitClass::environment};
inline constexpr ErrorCode archive_corrupt{"archive.corrupt", ExitClass::internal};
inline constexpr ErrorCode archive_no_run{"archive.no_run"};  ///< lists the runs there are
}  // namespace errc

/// A past winner, for seeding a search.
struct ArchivedBest {
  std::string run_id;
  std::string problem;
  std::string device_name;
  Candidate candidate;
  double median_ns = 0;
};

class Archive {
 public:
  virtual ~Archive() = default;
  /// errc::disk_full when the disk (or the file's page limit) is full; the file stays consistent.
  virtual Result<void> begin_run(const RunRecord& run) = 0;
  virtual Result<void> append(const std::string& run_id, const Attempt& attempt) = 0;
  /// Replaces the run's summary (status, baselines, best, final measurements).
  virtual Result<void> update_run(const RunRecord& run) = 0;

  [[nodiscard]] virtual Result<std::vector<RunRecord>> runs() const = 0;
  /// By id or unique prefix of it; "last" is the newest.
  [[nodiscard]] virtual Result<RunRecord> run(const std::string& id) const = 0;
  /// In order of ordinal.
  [[nodiscard]] virtual Result<std::vector<Attempt>> attempts(const std::string& run_id) const = 0;
  /// Accepted bests of finished runs for this operator and target, the same problem and device first.
  [[nodiscard]] virtual Result<std::vector<ArchivedBest>> bests(const std::string& op, const std::string& target,
                                                                int at_most) const = 0;
};

struct ArchiveOptions {
  bool read_only = false;
  std::int64_t max_pages = 0;  ///< SQLite's max_page_count; 0: no limit. Bounds the file, and lets tests fill it.
};
[[nodiscard]] Result<std::unique_ptr<Archive>> open_archive(const std::filesystem::path& file,
                                                            const ArchiveOptions& options = {});

}  // namespace kw

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
#include "record/turn.hpp"

namespace kw {

namespace errc {
inline constexpr ErrorCode archive_open{"archive.open", ExitClass::environment};
inline constexpr ErrorCode archive_version{"archive.version", ExitClass::environment};
inline constexpr ErrorCode archive_corrupt{"archive.corrupt", ExitClass::internal};
inline constexpr ErrorCode archive_no_run{"archive.no_run"};                      ///< lists the runs there are
inline constexpr ErrorCode archive_busy{"archive.busy", ExitClass::environment};  ///< another writer holds it
/// A run or an attempt is there already and says something else: a defect of the caller.
inline constexpr ErrorCode archive_conflict{"archive.conflict", ExitClass::internal};
}  // namespace errc

/// A past winner, for seeding a search.
struct ArchivedBest {
  std::string run_id;
  std::string problem;
  std::string device_name;
  Candidate candidate;
  double median_ns = 0;
};

/// Whose winners come first among the seeds.
struct SeedPreference {
  std::string problem;      ///< name; empty: no preference
  std::string device_name;  ///< empty: no preference
};

/// For one thread at a time; further threads and processes open the file themselves.
class Archive {
 public:
  virtual ~Archive() = default;
  /// errc::disk_full when the disk (or the file's page limit) is full; the file stays consistent.
  /// Repeating it changes nothing; another record under the same id is errc::archive_conflict.
  virtual Result<void> begin_run(const RunRecord& run) = 0;
  /// On disk when this returns. Repeating it changes nothing; another attempt under the same ordinal is
  /// errc::archive_conflict, and a run that was never begun is errc::archive_no_run.
  virtual Result<void> append(const std::string& run_id, const Attempt& attempt) = 0;
  /// The next turn of a run's transcript, in the order replies were taken. On disk when this returns; a run that was
  /// never begun is errc::archive_no_run.
  virtual Result<void> append_turn(const std::string& run_id, const Turn& turn) = 0;
  /// Replaces the run's summary (status, baselines, best, final measurements).
  virtual Result<void> update_run(const RunRecord& run) = 0;

  // Damage of a run is errc::archive_corrupt for whoever asks for that run; who asks for several gets the whole ones.

  /// Newest first, without those whose own row is damaged.
  [[nodiscard]] virtual Result<std::vector<RunRecord>> runs() const = 0;
  /// By id or unique prefix of it; "last" is the newest one that is whole, attempts and turns included.
  [[nodiscard]] virtual Result<RunRecord> run(const std::string& id) const = 0;
  /// In order of ordinal.
  [[nodiscard]] virtual Result<std::vector<Attempt>> attempts(const std::string& run_id) const = 0;
  /// In the order they were appended; none for a run without a model.
  [[nodiscard]] virtual Result<std::vector<Turn>> turns(const std::string& run_id) const = 0;
  /// Accepted bests of ended runs for this operator and target, each candidate once. In this order: same problem and
  /// device as preferred, same problem, same device, the rest; the newest first within each. None of damaged runs.
  [[nodiscard]] virtual Result<std::vector<ArchivedBest>> bests(const std::string& op, const std::string& target,
                                                                int at_most, const SeedPreference& prefer) const = 0;
  [[nodiscard]] Result<std::vector<ArchivedBest>> bests(const std::string& op, const std::string& target,
                                                        int at_most) const {
    return bests(op, target, at_most, SeedPreference{});
  }

  /// Ids of the damaged runs that this object has met so far, each once (damage_warning in archive/damage.hpp).
  [[nodiscard]] virtual std::vector<std::string> passed_over() const = 0;
  [[nodiscard]] virtual const std::filesystem::path& file() const = 0;
};

struct ArchiveOptions {
  bool read_only = false;      ///< never creates the file; works on a write-protected directory
  std::int64_t max_pages = 0;  ///< SQLite's max_page_count; 0: no limit. Bounds the file, and lets tests fill it.
  bool durable = true;         ///< false: what is written outlives the process, but not the loss of power
};
/// Writers hold a shared lock on it, so that nobody exchanges the archive under them.
[[nodiscard]] std::filesystem::path archive_lock_file(const std::filesystem::path& file);
/// Creates the file unless read-only, but not its directory.
[[nodiscard]] Result<std::unique_ptr<Archive>> open_archive(const std::filesystem::path& file,
                                                            const ArchiveOptions& options = {});

}  // namespace kw

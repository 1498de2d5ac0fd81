#pragma once
// Reads an archive completely, and puts a repaired one in its place.

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "archive/damage.hpp"
#include "base/result.hpp"

namespace kw {

struct ArchiveState {
  std::vector<std::string> whole;     ///< ids of runs without damage, newest first
  std::vector<ArchiveDamage> damage;  ///< in the order it was met; none: the archive is whole
  std::int64_t attempts = 0;          ///< of whole runs
  std::int64_t turns = 0;
  std::map<std::string, std::int64_t> rows;  ///< how many attempts and turns each run has, damaged ones included

  /// Ids of damaged runs, each once.
  [[nodiscard]] std::vector<std::string> damaged_runs() const;
};

/// Every row of every run, and the pages, indexes and references of the file. Changes nothing. Errors as of
/// open_archive read-only: a file that cannot be opened at all is one, not a state.
[[nodiscard]] Result<ArchiveState> check_archive(const std::filesystem::path& file);

struct ArchiveRepair {
  ArchiveState state;          ///< what was found; `whole` is what the archive holds now
  std::filesystem::path kept;  ///< the file as it was, damaged runs included; empty: nothing was damaged or changed
};

/// Keeps the file beside itself as FILE.damaged-STAMP and writes a new one with the runs that are whole, in its place.
/// Damage that is only in an index costs no run. Refused with errc::archive_busy while another process writes to the
/// archive. When it fails, or is killed, the archive is as it was; the copy, complete or not, is then left beside it.
/// `stamp`: what tells this copy from others, such as a time; a copy of that name is never overwritten (errc::io).
[[nodiscard]] Result<ArchiveRepair> repair_archive(const std::filesystem::path& file, const std::string& stamp);

}  // namespace kw

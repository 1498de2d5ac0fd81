#pragma once
// Reads the rows of an archive and tells whole ones from damaged ones: records that do not decode, bytes that differ
// from what was written, and pages that SQLite cannot read. Damage of one run is a value, so that others can be read.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "archive/sqlite.hpp"
#include "record/attempt.hpp"
#include "record/run_record.hpp"
#include "record/turn.hpp"

namespace kw {

template <typename T>
struct RowsRead {
  std::vector<T> whole;       ///< in their order
  std::vector<Error> damage;  ///< errc::archive_corrupt, one for each damaged row
};

/// Valid while the database is. `version` is that of the file's tables.
class RowReader {
 public:
  RowReader(const sqlite::Database& database, std::int64_t version) : database_(&database), version_(version) {}

  [[nodiscard]] Result<bool> has_run(const std::string& id) const;
  /// Ids that begin with `prefix`, newest first. From a file with unreadable pages, those that can still be found.
  [[nodiscard]] Result<std::vector<std::string>> newest_ids(std::string_view prefix) const;
  /// Ids that attempts and turns name and no run has.
  [[nodiscard]] Result<std::vector<std::string>> ids_without_run() const;
  /// How many attempts and turns each run has, by the tables or by their indexes, whichever have more. What cannot be
  /// read is not counted.
  [[nodiscard]] std::map<std::string, std::int64_t> rows_by_run() const;

  /// One run, or none with one damage; neither when there is no such run.
  [[nodiscard]] Result<RowsRead<RunRecord>> run(const std::string& id) const;
  [[nodiscard]] Result<RowsRead<Attempt>> attempts(const std::string& run_id) const;
  [[nodiscard]] Result<RowsRead<Turn>> turns(const std::string& run_id) const;

 private:
  [[nodiscard]] std::string checksum_holds(std::string_view table, std::string_view columns) const;
  [[nodiscard]] std::vector<std::string> salvaged_ids() const;
  [[nodiscard]] Error damaged(const Error& cause, const std::string& row) const;
  [[nodiscard]] Error damaged(const std::string& cause, const std::string& row) const;

  const sqlite::Database* database_;
  std::int64_t version_;
};

}  // namespace kw

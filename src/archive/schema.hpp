#pragma once
// The tables of an archive, their version, and the settings every connection needs. Version 2:
//
//   runs      id, started_utc, problem, op, target, device, status, best_ordinal, record
//   bundles   hash, record                       one row per distinct bundle, keyed by the hash of `record`
//   attempts  run_id, ordinal, candidate, bundle, status, reason, failed_gate, median_ns, became_best, record
//   turns     run_id, sequence, fault, record    what was said with models, in the order replies were taken
//
// Version 1 had no turns.
//
// `record` is the JSON of record/json.hpp and holds the truth; the other columns repeat a part of it for queries, enums
// with the numbers of the record headers. An attempt's record lacks its bundle, which is the row of `bundles`.

#include <cstdint>

#include "archive/sqlite.hpp"

namespace kw {

/// Kept in PRAGMA user_version. A change of the tables takes the next number and a step that converts the older ones.
inline constexpr std::int64_t k_archive_version = 2;

/// Makes the tables of an empty file, or checks that the file is an archive this program can read: otherwise
/// errc::archive_version or errc::archive_corrupt. max_pages as in ArchiveOptions.
[[nodiscard]] Result<void> prepare_for_writing(sqlite::Database& database, std::int64_t max_pages);
[[nodiscard]] Result<void> check_for_reading(const sqlite::Database& database);

}  // namespace kw

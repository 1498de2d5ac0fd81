#pragma once
// The tables of an archive, their version, and the settings every connection needs. Version 4:
//
//   runs      id, started_utc, problem, op, target, device, status, best_ordinal, record, style, problem_source,
//             checksum
//   problems  hash, record                       what problems were read from, keyed by the hash of `record`
//   bundles   hash, record                       one row per distinct bundle, keyed by the hash of `record`
//   attempts  run_id, ordinal, candidate, bundle, status, reason, failed_gate, median_ns, became_best, record,
//             checksum
//   turns     run_id, sequence, fault, record, checksum      what was said with models, in the order replies were taken
//
// Version 1 had no turns. Version 2 had no problems, and neither style nor problem_source of a run: what a run of that
// time lacks is NULL. Its attempts have no accuracy in their records. Version 3 had no checksums, which are NULL in
// rows of that time: a program that comes later cannot vouch for them.
//
// `record` is the JSON of record/json.hpp and holds the truth; the other columns repeat a part of it for queries, enums
// with the numbers of the record headers. An attempt's record lacks its bundle, which is the row of `bundles`; a run's
// record lacks its problem_source, which is the row of `problems`. A checksum is kw_checksum (archive/sqlite.hpp) of
// the row's other columns in their order; rows that are keyed by their hash need none.

#include <cstdint>

#include "archive/archive.hpp"
#include "archive/sqlite.hpp"

namespace kw {

/// Kept in PRAGMA user_version. A change of the tables takes the next number and a step that converts the older ones.
inline constexpr std::int64_t k_archive_version = 4;

/// Makes the tables of an empty file, or checks that the file is an archive this program can read: otherwise
/// errc::archive_version or errc::archive_corrupt.
[[nodiscard]] Result<void> prepare_for_writing(sqlite::Database& database, const ArchiveOptions& options);
/// The version of the file, which is read as it is.
[[nodiscard]] Result<std::int64_t> check_for_reading(const sqlite::Database& database);

}  // namespace kw

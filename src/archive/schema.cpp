#include "archive/schema.hpp"

namespace kw {
namespace {

/// "kwar": marks the file as ours (PRAGMA application_id), so that no other program's database is written to.
constexpr std::int64_t k_application_id = 0x6b776172;

constexpr const char* k_tables = R"(
CREATE TABLE runs (
  id           TEXT PRIMARY KEY,
  started_utc  TEXT NOT NULL,
  problem      TEXT NOT NULL,
  op           TEXT NOT NULL,
  target       TEXT NOT NULL,
  device       TEXT NOT NULL,
  status       INTEGER NOT NULL,
  best_ordinal INTEGER,
  record       TEXT NOT NULL
);
CREATE TABLE bundles (
  hash   TEXT PRIMARY KEY,
  record TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE attempts (
  run_id      TEXT NOT NULL REFERENCES runs(id),
  ordinal     INTEGER NOT NULL,
  candidate   TEXT NOT NULL,
  bundle      TEXT NOT NULL REFERENCES bundles(hash),
  status      INTEGER NOT NULL,
  reason      INTEGER NOT NULL,
  failed_gate INTEGER,
  median_ns   INTEGER,
  became_best INTEGER NOT NULL,
  record      TEXT NOT NULL,
  PRIMARY KEY (run_id, ordinal)
);
)";

constexpr const char* k_turns = R"(
CREATE TABLE turns (
  run_id   TEXT NOT NULL REFERENCES runs(id),
  sequence INTEGER NOT NULL,
  fault    INTEGER NOT NULL,
  record   TEXT NOT NULL,
  PRIMARY KEY (run_id, sequence)
);
)";

constexpr const char* k_problems = R"(
CREATE TABLE problems (
  hash   TEXT PRIMARY KEY,
  record TEXT NOT NULL
) WITHOUT ROWID;
ALTER TABLE runs ADD COLUMN style TEXT;
ALTER TABLE runs ADD COLUMN problem_source TEXT REFERENCES problems(hash);
)";

constexpr const char* k_checksums = R"(
ALTER TABLE runs ADD COLUMN checksum INTEGER;
ALTER TABLE attempts ADD COLUMN checksum INTEGER;
ALTER TABLE turns ADD COLUMN checksum INTEGER;
)";

Error not_an_archive(const sqlite::Database& database) {
  return Error{errc::archive_corrupt,
               fmt::format("{} is a database of another program, not an archive", database.file().string()),
               "name another file"};
}

/// The version, 0 for an empty file; refuses what is not ours or too new.
Result<std::int64_t> version_of(const sqlite::Database& database) {
  std::int64_t version = 0;
  std::int64_t application = 0;
  std::int64_t tables = 0;
  // One commit sets all three: while the version stays the same, no other process has made the tables in between.
  for (std::int64_t before = -1; before != version;) {
    KW_TRY(before, database.integer("PRAGMA user_version"));
    KW_TRY(application, database.integer("PRAGMA application_id"));
    KW_TRY(tables, database.integer("SELECT count(*) FROM sqlite_master"));
    KW_TRY(version, database.integer("PRAGMA user_version"));
  }
  if (version == 0 && application == 0 && tables == 0) return 0;
  if (application != k_application_id) return fail(not_an_archive(database));
  // A bit of the number may have changed, also its sign.
  if (version < 1 || version > k_archive_version) {
    return fail(Error{errc::archive_version,
                      fmt::format("the archive {} has version {}; this program knows versions 1 to {}",
                                  database.file().string(), version, k_archive_version),
                      "use the newer kernelwright that wrote it, or give this one an archive of its own"});
  }
  return version;
}

/// Makes the tables that this version has and the file lacks; older files keep all their rows.
Result<void> bring_up_to_date(sqlite::Database& database) {
  return database.transaction([&]() -> Result<void> {
    // Another process may have made them since we looked; within the transaction nobody else can.
    KW_TRY(const std::int64_t version, version_of(database));
    if (version == k_archive_version) return {};
    if (version < 1) KW_TRY_VOID(database.execute(k_tables));
    if (version < 2) KW_TRY_VOID(database.execute(k_turns));
    if (version < 3) KW_TRY_VOID(database.execute(k_problems));
    if (version < 4) KW_TRY_VOID(database.execute(k_checksums));
    KW_TRY_VOID(database.execute(fmt::format("PRAGMA application_id = {}", k_application_id)));
    return database.execute(fmt::format("PRAGMA user_version = {}", k_archive_version));
  });
}

}  // namespace

Result<void> prepare_for_writing(sqlite::Database& database, const ArchiveOptions& options) {
  KW_TRY(const std::int64_t version, version_of(database));
  KW_TRY_VOID(database.execute("PRAGMA foreign_keys = ON"));
  // WAL: readers never wait for the writer, and a process killed in the middle leaves the last commit.
  KW_TRY_VOID(database.use_write_ahead_log());
  // FULL: a commit is on the disk when append() returns, so that it outlives the loss of power, and a disk that turns
  // out to be full says so now. NORMAL outlives only kill -9. Measured on 2026-11-20, ext4 on a virtual disk: 4.0 ms an
  // append against 0.14 ms; an attempt takes some 300 ms, so certainty costs about 1 %.
  KW_TRY_VOID(database.execute(options.durable ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = OFF"));
  if (options.max_pages > 0) {
    KW_TRY_VOID(database.execute(fmt::format("PRAGMA max_page_count = {}", options.max_pages)));
  }
  if (version < k_archive_version) return bring_up_to_date(database);
  return {};
}

Result<std::int64_t> check_for_reading(const sqlite::Database& database) {
  KW_TRY(const std::int64_t version, version_of(database));
  if (version == 0) {
    return fail(Error{errc::archive_open, fmt::format("the archive {} is empty", database.file().string()),
                      "start a run first"});
  }
  return version;
}

}  // namespace kw

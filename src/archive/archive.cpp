#include "archive/archive.hpp"

#include <cmath>
#include <set>

#include "archive/schema.hpp"
#include "archive/sqlite.hpp"
#include "record/json.hpp"

namespace kw {
namespace {

using sqlite::Database;
using sqlite::OpenMode;
using sqlite::Statement;

/// How many runs an error lists before it only counts the rest.
constexpr std::size_t k_listed_runs = 10;

/// A row that SQLite gave back whole but that is no record: damage, as far as the archive is concerned.
tl::unexpected<Error> damaged(const Error& cause, const Database& database, const std::string& row) {
  return fail(Error{errc::archive_corrupt,
                    fmt::format("the archive {} is damaged at {}: {}", database.file().string(), row, cause.message),
                    cause.hint});
}

std::optional<std::int64_t> rounded_median(const Attempt& attempt) {
  if (!attempt.measurement || !(std::abs(attempt.measurement->median_ns) < 9e18)) return std::nullopt;
  return std::llround(attempt.measurement->median_ns);
}

class SqliteArchive final : public Archive {
 public:
  explicit SqliteArchive(Database database) : database_(std::move(database)) {}

  using Archive::bests;
  Result<void> begin_run(const RunRecord& run) override;
  Result<void> append(const std::string& run_id, const Attempt& attempt) override;
  Result<void> append_turn(const std::string& run_id, const Turn& turn) override;
  Result<void> update_run(const RunRecord& run) override;
  [[nodiscard]] Result<std::vector<RunRecord>> runs() const override;
  [[nodiscard]] Result<RunRecord> run(const std::string& id) const override;
  [[nodiscard]] Result<std::vector<Attempt>> attempts(const std::string& run_id) const override;
  [[nodiscard]] Result<std::vector<Turn>> turns(const std::string& run_id) const override;
  [[nodiscard]] Result<std::vector<ArchivedBest>> bests(const std::string& op, const std::string& target, int at_most,
                                                        const SeedPreference& prefer) const override;

 private:
  Result<void> insert_bundle(const std::string& hash, const std::string& record);
  Result<void> insert_attempt(const std::string& run_id, const Attempt& attempt, const AttemptParts& parts);
  Result<void> expect_same(std::string_view sql, const std::string& run_id, std::optional<std::int64_t> ordinal,
                           const std::string& record) const;
  [[nodiscard]] Result<bool> has_run(const std::string& id) const;
  [[nodiscard]] Result<std::vector<std::string>> newest_ids(std::string_view prefix) const;
  [[nodiscard]] Result<RunRecord> read_run(const std::string& id) const;
  [[nodiscard]] tl::unexpected<Error> no_such_run(const std::string& id, const std::vector<std::string>& matches) const;

  Database database_;
};

/// For a row that is there already: the same record is a repeated call, another one a broken call.
Result<void> SqliteArchive::expect_same(std::string_view sql, const std::string& run_id,
                                        std::optional<std::int64_t> ordinal, const std::string& record) const {
  KW_TRY(Statement select, database_.prepare(sql));
  select.bind(1, run_id);
  if (ordinal) select.bind(2, *ordinal);
  KW_TRY(const bool found, select.step());
  if (found && select.text(0) == record) return {};
  const std::string what =
      ordinal ? fmt::format("attempt {} of run {}", *ordinal, run_id) : fmt::format("run {}", run_id);
  return fail(Error{errc::archive_conflict, fmt::format("{} is in the archive already, with other content", what),
                    "another process may be writing the same run; resume it in one process only"});
}

Result<void> SqliteArchive::begin_run(const RunRecord& run) {
  const std::string record = encode(run);
  return database_.transaction([&]() -> Result<void> {
    KW_TRY(Statement insert, database_.prepare("INSERT INTO runs VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) "
                                               "ON CONFLICT DO NOTHING"));
    insert.bind(1, run.id).bind(2, run.started_utc).bind(3, run.problem).bind(4, run.op).bind(5, run.target);
    insert.bind(6, run.device.name).bind(7, static_cast<std::int64_t>(run.status)).bind(8, run.best_ordinal);
    KW_TRY_VOID(insert.bind(9, record).run());
    if (database_.changes() > 0) return {};
    return expect_same("SELECT record FROM runs WHERE id = ?1", run.id, std::nullopt, record);
  });
}

Result<void> SqliteArchive::update_run(const RunRecord& run) {
  return database_.transaction([&]() -> Result<void> {
    KW_TRY(Statement update, database_.prepare("UPDATE runs SET status = ?2, best_ordinal = ?3, record = ?4 "
                                               "WHERE id = ?1"));
    update.bind(1, run.id).bind(2, static_cast<std::int64_t>(run.status)).bind(3, run.best_ordinal);
    KW_TRY_VOID(update.bind(4, encode(run)).run());
    if (database_.changes() == 0) return no_such_run(run.id, {});
    return {};
  });
}

Result<void> SqliteArchive::insert_bundle(const std::string& hash, const std::string& record) {
  KW_TRY(Statement insert, database_.prepare("INSERT INTO bundles VALUES (?1, ?2) ON CONFLICT DO NOTHING"));
  return insert.bind(1, hash).bind(2, record).run();
}

Result<void> SqliteArchive::insert_attempt(const std::string& run_id, const Attempt& attempt,
                                           const AttemptParts& parts) {
  const std::string bundle = hash_bytes(parts.bundle).hex();
  KW_TRY_VOID(insert_bundle(bundle, parts.bundle));
  KW_TRY(Statement insert, database_.prepare("INSERT INTO attempts VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) "
                                             "ON CONFLICT DO NOTHING"));
  std::optional<std::int64_t> failed_gate;
  if (attempt.verdict.failed_gate) failed_gate = static_cast<std::int64_t>(*attempt.verdict.failed_gate);
  insert.bind(1, run_id).bind(2, attempt.ordinal).bind(3, attempt.candidate.id().hex()).bind(4, bundle);
  insert.bind(5, static_cast<std::int64_t>(attempt.verdict.status));
  insert.bind(6, static_cast<std::int64_t>(attempt.verdict.reason));
  insert.bind(7, failed_gate).bind(8, rounded_median(attempt)).bind(9, std::int64_t{attempt.became_best});
  return insert.bind(10, parts.attempt).run();
}

Result<void> SqliteArchive::append(const std::string& run_id, const Attempt& attempt) {
  const AttemptParts parts = encode_apart(attempt);
  return database_.transaction([&]() -> Result<void> {
    KW_TRY(const bool known, has_run(run_id));
    if (!known) return no_such_run(run_id, {});
    KW_TRY_VOID(insert_attempt(run_id, attempt, parts));
    if (database_.changes() > 0) return {};
    constexpr const char* k_stored =
        "SELECT a.record || b.record FROM attempts a JOIN bundles b ON b.hash = a.bundle "
        "WHERE a.run_id = ?1 AND a.ordinal = ?2";
    return expect_same(k_stored, run_id, attempt.ordinal, parts.attempt + parts.bundle);
  });
}

Result<void> SqliteArchive::append_turn(const std::string& run_id, const Turn& turn) {
  return database_.transaction([&]() -> Result<void> {
    KW_TRY(const bool known, has_run(run_id));
    if (!known) return no_such_run(run_id, {});
    KW_TRY(Statement insert,
           database_.prepare("INSERT INTO turns SELECT ?1, count(*), ?2, ?3 FROM turns WHERE run_id = ?1"));
    return insert.bind(1, run_id).bind(2, static_cast<std::int64_t>(turn.fault)).bind(3, encode(turn)).run();
  });
}

Result<bool> SqliteArchive::has_run(const std::string& id) const {
  KW_TRY(Statement select, database_.prepare("SELECT 1 FROM runs WHERE id = ?1"));
  return select.bind(1, id).step();
}

/// substr and not LIKE: a prefix is text, '%' in it too.
Result<std::vector<std::string>> SqliteArchive::newest_ids(std::string_view prefix) const {
  KW_TRY(Statement select, database_.prepare("SELECT id FROM runs WHERE substr(id, 1, length(?1)) = ?1 "
                                             "ORDER BY started_utc DESC, rowid DESC"));
  select.bind(1, prefix);
  std::vector<std::string> ids;
  for (;;) {
    KW_TRY(const bool found, select.step());
    if (!found) return ids;
    ids.push_back(select.text(0));
  }
}

tl::unexpected<Error> SqliteArchive::no_such_run(const std::string& id, const std::vector<std::string>& matches) const {
  const auto all = newest_ids("");
  if (!all) return fail(all.error());
  const auto& listed = matches.empty() ? *all : matches;
  std::string names;
  for (std::size_t i = 0; i < listed.size() && i < k_listed_runs; ++i) names += (i > 0 ? ", " : "") + listed[i];
  if (listed.size() > k_listed_runs) names += fmt::format(" and {} more", listed.size() - k_listed_runs);
  const std::string file = database_.file().string();
  if (!matches.empty()) {
    return fail(Error{errc::archive_no_run,
                      fmt::format("\"{}\" begins {} runs in {}: {}", id, listed.size(), file, names),
                      "write more of the id"});
  }
  if (listed.empty()) {
    return fail(Error{errc::archive_no_run, fmt::format("there is no run \"{}\": {} holds none", id, file),
                      "start one with kernelwright optimize"});
  }
  return fail(Error{errc::archive_no_run, fmt::format("there is no run \"{}\" in {}", id, file),
                    fmt::format("\"last\", or one of, newest first: {}", names)});
}

Result<RunRecord> SqliteArchive::read_run(const std::string& id) const {
  KW_TRY(Statement select, database_.prepare("SELECT record FROM runs WHERE id = ?1"));
  KW_TRY(const bool found, select.bind(1, id).step());
  if (!found) return no_such_run(id, {});
  auto decoded = decode_run(select.text(0));
  if (!decoded) return damaged(decoded.error(), database_, fmt::format("run {}", id));
  return decoded;
}

Result<RunRecord> SqliteArchive::run(const std::string& id) const {
  KW_TRY(const bool exact, has_run(id));
  if (exact) return read_run(id);
  KW_TRY(const auto matches, newest_ids(id == "last" ? "" : id));
  if (matches.empty() || id.empty()) return no_such_run(id, {});
  if (matches.size() > 1 && id != "last") return no_such_run(id, matches);
  return read_run(matches.front());
}

Result<std::vector<RunRecord>> SqliteArchive::runs() const {
  KW_TRY(const auto ids, newest_ids(""));
  std::vector<RunRecord> result;
  for (const auto& id : ids) {
    KW_TRY(auto record, read_run(id));
    result.push_back(std::move(record));
  }
  return result;
}

Result<std::vector<Attempt>> SqliteArchive::attempts(const std::string& run_id) const {
  KW_TRY(const bool known, has_run(run_id));
  if (!known) return no_such_run(run_id, {});
  KW_TRY(Statement select, database_.prepare("SELECT a.ordinal, a.record, b.record FROM attempts a "
                                             "JOIN bundles b ON b.hash = a.bundle WHERE a.run_id = ?1 "
                                             "ORDER BY a.ordinal"));
  select.bind(1, run_id);
  std::vector<Attempt> result;
  for (;;) {
    KW_TRY(const bool found, select.step());
    if (!found) return result;
    auto decoded = decode_apart({select.text(1), select.text(2)});
    const std::string row = fmt::format("attempt {} of run {}", select.integer(0), run_id);
    if (!decoded) return damaged(decoded.error(), database_, row);
    result.push_back(*std::move(decoded));
  }
}

Result<std::vector<Turn>> SqliteArchive::turns(const std::string& run_id) const {
  KW_TRY(const bool known, has_run(run_id));
  if (!known) return no_such_run(run_id, {});
  // A version 1 archive opened for reading has no such table, and no model took part in its runs.
  KW_TRY(const std::int64_t tables, database_.integer("SELECT count(*) FROM sqlite_master WHERE name = 'turns'"));
  std::vector<Turn> result;
  if (tables == 0) return result;
  KW_TRY(Statement select, database_.prepare("SELECT sequence, record FROM turns WHERE run_id = ?1 ORDER BY sequence"));
  select.bind(1, run_id);
  for (;;) {
    KW_TRY(const bool found, select.step());
    if (!found) return result;
    auto decoded = decode_turn(select.text(1));
    const std::string row = fmt::format("turn {} of run {}", select.integer(0), run_id);
    if (!decoded) return damaged(decoded.error(), database_, row);
    result.push_back(*std::move(decoded));
  }
}

Result<std::vector<ArchivedBest>> SqliteArchive::bests(const std::string& op, const std::string& target, int at_most,
                                                       const SeedPreference& prefer) const {
  KW_TRY(Statement select,
         database_.prepare("SELECT r.id, r.problem, r.device, a.record, b.record, r.record FROM runs r "
                           "JOIN attempts a ON a.run_id = r.id AND a.ordinal = r.best_ordinal "
                           "JOIN bundles b ON b.hash = a.bundle "
                           "WHERE r.op = ?1 AND r.target = ?2 AND r.status <> ?3 AND a.status = ?4 "
                           "ORDER BY 2 * (r.problem = ?5) + (r.device = ?6) DESC, r.started_utc DESC, r.rowid DESC"));
  select.bind(1, op).bind(2, target).bind(3, static_cast<std::int64_t>(RunStatus::running));
  select.bind(4, static_cast<std::int64_t>(VerdictStatus::accepted))
      .bind(5, prefer.problem)
      .bind(6, prefer.device_name);
  std::vector<ArchivedBest> result;
  std::set<Hash> seen;
  while (static_cast<std::int64_t>(result.size()) < at_most) {
    KW_TRY(const bool found, select.step());
    if (!found) break;
    auto attempt = decode_apart({select.text(3), select.text(4)});
    const std::string row = fmt::format("the best of run {}", select.text(0));
    if (!attempt) return damaged(attempt.error(), database_, row);
    const auto run_record = decode_run(select.text(5));
    if (!run_record) return damaged(run_record.error(), database_, row);
    const auto& measured = run_record->best_final ? run_record->best_final : attempt->measurement;
    if (!measured || !seen.insert(attempt->candidate.id()).second) continue;
    result.push_back(
        {select.text(0), select.text(1), select.text(2), std::move(attempt->candidate), measured->median_ns});
  }
  return result;
}

Result<std::unique_ptr<Archive>> open_to_write(const std::filesystem::path& file, const ArchiveOptions& options) {
  KW_TRY(Database database, Database::open(file, OpenMode::create));
  KW_TRY_VOID(prepare_for_writing(database, options.max_pages));
  return std::make_unique<SqliteArchive>(std::move(database));
}

Result<std::unique_ptr<Archive>> open_to_read(const std::filesystem::path& file, OpenMode mode) {
  KW_TRY(Database database, Database::open(file, mode));
  KW_TRY_VOID(check_for_reading(database));
  return std::make_unique<SqliteArchive>(std::move(database));
}

}  // namespace

Result<std::unique_ptr<Archive>> open_archive(const std::filesystem::path& file, const ArchiveOptions& options) {
  if (!options.read_only) return open_to_write(file, options);
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) {
    return fail(Error{errc::archive_open, fmt::format("there is no archive at {}", file.string()),
                      "start a run first, or name another file"});
  }
  auto archive = open_to_read(file, OpenMode::read_only);
  // A WAL reader makes two small files beside the archive. Where it may not, and no writer has left any, nothing can
  // change under us and the file is read alone.
  const bool alone = !std::filesystem::exists(file.string() + "-wal", ignored);
  if (!archive && archive.error().code == errc::archive_open && alone) return open_to_read(file, OpenMode::frozen);
  return archive;
}

}  // namespace kw

#include "archive/archive.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include "archive/rows.hpp"
#include "archive/schema.hpp"
#include "archive/sqlite.hpp"
#include "base/file_lock.hpp"
#include "record/json.hpp"

namespace kw {
namespace {

using sqlite::Database;
using sqlite::OpenMode;
using sqlite::Statement;

/// How many runs an error lists before it only counts the rest.
constexpr std::size_t k_listed_runs = 10;

/// The key is the hash of the record: where another record stands under it, that one is damaged, and this is the
/// remedy.
constexpr const char* k_insert_problem =
    "INSERT INTO problems VALUES (?1, ?2) ON CONFLICT DO UPDATE SET record = excluded.record "
    "WHERE record <> excluded.record";
constexpr const char* k_insert_bundle =
    "INSERT INTO bundles VALUES (?1, ?2) ON CONFLICT DO UPDATE SET record = excluded.record "
    "WHERE record <> excluded.record";
constexpr const char* k_insert_run =
    "INSERT INTO runs (id, started_utc, problem, op, target, device, status, best_ordinal, record, style, "
    "problem_source, checksum) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, "
    "kw_checksum(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)) ON CONFLICT DO NOTHING";
constexpr const char* k_update_run =
    "UPDATE runs SET status = ?2, best_ordinal = ?3, record = ?4, style = ?5, problem_source = ?6, "
    "checksum = kw_checksum(id, started_utc, problem, op, target, device, ?2, ?3, ?4, ?5, ?6) WHERE id = ?1";
constexpr const char* k_insert_attempt =
    "INSERT INTO attempts VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, "
    "kw_checksum(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)) ON CONFLICT DO NOTHING";
constexpr const char* k_insert_turn =
    "INSERT INTO turns SELECT ?1, count(*), ?2, ?3, kw_checksum(?1, count(*), ?2, ?3) FROM turns WHERE run_id = ?1";

std::optional<std::int64_t> rounded_median(const Attempt& attempt) {
  if (!attempt.measurement || !(std::abs(attempt.measurement->median_ns) < 9e18)) return std::nullopt;
  return std::llround(attempt.measurement->median_ns);
}

class SqliteArchive final : public Archive {
 public:
  /// `version` is that of the file's tables.
  SqliteArchive(Database database, std::int64_t version, std::optional<FileLock> lock)
      : lock_(std::move(lock)), database_(std::move(database)), version_(version) {}

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
  [[nodiscard]] std::vector<std::string> passed_over() const override { return passed_over_; }
  [[nodiscard]] const std::filesystem::path& file() const override { return database_.file(); }

 private:
  Result<void> insert_bundle(const std::string& hash, const std::string& record);
  Result<std::optional<std::string>> insert_problem(const std::optional<std::string>& record);
  Result<void> insert_attempt(const std::string& run_id, const Attempt& attempt, const AttemptParts& parts);
  Result<void> expect_same(std::string_view sql, const std::string& run_id, std::optional<std::int64_t> ordinal,
                           const std::string& record) const;
  /// Made for each use: the database moves with this object.
  [[nodiscard]] RowReader rows() const { return {database_, version_}; }
  template <typename T>
  Result<std::vector<T>> all_whole(const std::string& run_id, Result<RowsRead<T>> read) const;
  [[nodiscard]] Result<RunRecord> read_run(const std::string& id) const;
  [[nodiscard]] Result<std::optional<RunRecord>> whole_run(const std::string& id) const;
  [[nodiscard]] Result<std::optional<ArchivedBest>> best_of(const RunRecord& run) const;
  [[nodiscard]] tl::unexpected<Error> no_such_run(const std::string& id, const std::vector<std::string>& matches) const;

  std::optional<FileLock> lock_;  ///< of a writer: the file is not exchanged under it
  Database database_;
  std::int64_t version_;
  mutable std::vector<std::string> passed_over_;
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

/// The key of the row; nothing where there is no record.
Result<std::optional<std::string>> SqliteArchive::insert_problem(const std::optional<std::string>& record) {
  if (!record) return std::nullopt;
  const std::string hash = hash_bytes(*record).hex();
  KW_TRY(Statement insert, database_.prepare(k_insert_problem));
  KW_TRY_VOID(insert.bind(1, hash).bind(2, *record).run());
  return hash;
}

Result<void> SqliteArchive::begin_run(const RunRecord& run) {
  const RunParts parts = encode_apart(run);
  return database_.transaction([&]() -> Result<void> {
    KW_TRY(const auto source, insert_problem(parts.problem_source));
    KW_TRY(Statement insert, database_.prepare(k_insert_run));
    insert.bind(1, run.id).bind(2, run.started_utc).bind(3, run.problem).bind(4, run.op).bind(5, run.target);
    insert.bind(6, run.device.name).bind(7, static_cast<std::int64_t>(run.status)).bind(8, run.best_ordinal);
    KW_TRY_VOID(insert.bind(9, parts.run).bind_optional(10, run.style).bind_optional(11, source).run());
    if (database_.changes() > 0) return {};
    return expect_same("SELECT record || coalesce(problem_source, '') FROM runs WHERE id = ?1", run.id, std::nullopt,
                       parts.run + source.value_or(""));
  });
}

Result<void> SqliteArchive::update_run(const RunRecord& run) {
  const RunParts parts = encode_apart(run);
  return database_.transaction([&]() -> Result<void> {
    KW_TRY(const auto source, insert_problem(parts.problem_source));
    KW_TRY(Statement update, database_.prepare(k_update_run));
    update.bind(1, run.id).bind(2, static_cast<std::int64_t>(run.status)).bind(3, run.best_ordinal);
    KW_TRY_VOID(update.bind(4, parts.run).bind_optional(5, run.style).bind_optional(6, source).run());
    if (database_.changes() == 0) return no_such_run(run.id, {});
    return {};
  });
}

Result<void> SqliteArchive::insert_bundle(const std::string& hash, const std::string& record) {
  KW_TRY(Statement insert, database_.prepare(k_insert_bundle));
  return insert.bind(1, hash).bind(2, record).run();
}

Result<void> SqliteArchive::insert_attempt(const std::string& run_id, const Attempt& attempt,
                                           const AttemptParts& parts) {
  const std::string bundle = hash_bytes(parts.bundle).hex();
  KW_TRY_VOID(insert_bundle(bundle, parts.bundle));
  KW_TRY(Statement insert, database_.prepare(k_insert_attempt));
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
    KW_TRY(const bool known, rows().has_run(run_id));
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
    KW_TRY(const bool known, rows().has_run(run_id));
    if (!known) return no_such_run(run_id, {});
    KW_TRY(Statement insert, database_.prepare(k_insert_turn));
    return insert.bind(1, run_id).bind(2, static_cast<std::int64_t>(turn.fault)).bind(3, encode(turn)).run();
  });
}

tl::unexpected<Error> SqliteArchive::no_such_run(const std::string& id, const std::vector<std::string>& matches) const {
  const auto all = rows().newest_ids("");
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

/// Notes the run when any row of it is damaged.
template <typename T>
Result<std::vector<T>> SqliteArchive::all_whole(const std::string& run_id, Result<RowsRead<T>> read) const {
  if (!read) return fail(std::move(read).error());
  if (read->damage.empty()) return std::move(read->whole);
  if (std::find(passed_over_.begin(), passed_over_.end(), run_id) == passed_over_.end()) passed_over_.push_back(run_id);
  return fail(std::move(read->damage.front()));
}

Result<RunRecord> SqliteArchive::read_run(const std::string& id) const {
  KW_TRY(auto found, all_whole(id, rows().run(id)));
  if (found.empty()) return no_such_run(id, {});
  return std::move(found.front());
}

/// Nothing when its own row, an attempt or a turn is damaged.
Result<std::optional<RunRecord>> SqliteArchive::whole_run(const std::string& id) const {
  auto run = read_run(id);
  Result<void> whole;
  if (!run) whole = fail(run.error());
  if (whole) whole = attempts(id).map([](const auto&) {});
  if (whole) whole = turns(id).map([](const auto&) {});
  if (whole) return *std::move(run);
  if (whole.error().code == errc::archive_corrupt) return std::nullopt;
  return fail(std::move(whole).error());
}

Result<RunRecord> SqliteArchive::run(const std::string& id) const {
  if (id != "last") {
    KW_TRY(const bool exact, rows().has_run(id));
    if (exact) return read_run(id);
  }
  KW_TRY(const auto matches, rows().newest_ids(id == "last" ? "" : id));
  if (matches.empty() || id.empty()) return no_such_run(id, {});
  if (id != "last") return matches.size() > 1 ? no_such_run(id, matches) : read_run(matches.front());
  for (const auto& match : matches) {
    KW_TRY(auto whole, whole_run(match));
    if (whole) return *std::move(whole);
  }
  return read_run(matches.front());  // which says what is wrong with it
}

Result<std::vector<RunRecord>> SqliteArchive::runs() const {
  KW_TRY(const auto ids, rows().newest_ids(""));
  std::vector<RunRecord> result;
  for (const auto& id : ids) {
    auto record = read_run(id);
    if (record)
      result.push_back(*std::move(record));
    else if (record.error().code != errc::archive_corrupt)
      return fail(std::move(record).error());
  }
  return result;
}

Result<std::vector<Attempt>> SqliteArchive::attempts(const std::string& run_id) const {
  KW_TRY(const bool known, rows().has_run(run_id));
  if (!known) return no_such_run(run_id, {});
  return all_whole(run_id, rows().attempts(run_id));
}

Result<std::vector<Turn>> SqliteArchive::turns(const std::string& run_id) const {
  KW_TRY(const bool known, rows().has_run(run_id));
  if (!known) return no_such_run(run_id, {});
  return all_whole(run_id, rows().turns(run_id));
}

/// Nothing when it was not accepted or not measured, or when the run is damaged.
Result<std::optional<ArchivedBest>> SqliteArchive::best_of(const RunRecord& run) const {
  auto tried = attempts(run.id);
  if (!tried && tried.error().code == errc::archive_corrupt) return std::nullopt;
  if (!tried) return fail(std::move(tried).error());
  const auto best = std::find_if(tried->begin(), tried->end(),
                                 [&](const Attempt& attempt) { return attempt.ordinal == run.best_ordinal; });
  if (best == tried->end() || !best->verdict.accepted()) return std::nullopt;
  const auto& measured = run.best_final ? run.best_final : best->measurement;
  if (!measured) return std::nullopt;
  return ArchivedBest{run.id, run.problem, run.device.name, std::move(best->candidate), measured->median_ns};
}

Result<std::vector<ArchivedBest>> SqliteArchive::bests(const std::string& op, const std::string& target, int at_most,
                                                       const SeedPreference& prefer) const {
  KW_TRY(auto ended, runs());
  std::erase_if(ended, [&](const RunRecord& run) {
    return run.op != op || run.target != target || run.status == RunStatus::running || !run.best_ordinal;
  });
  const auto nearness = [&](const RunRecord& run) {
    return 2 * static_cast<int>(run.problem == prefer.problem) +
           static_cast<int>(run.device.name == prefer.device_name);
  };
  std::stable_sort(ended.begin(), ended.end(),
                   [&](const RunRecord& a, const RunRecord& b) { return nearness(a) > nearness(b); });
  std::vector<ArchivedBest> result;
  std::set<Hash> seen;
  for (const auto& run : ended) {
    if (std::ssize(result) >= at_most) break;
    KW_TRY(auto best, best_of(run));
    if (best && seen.insert(best->candidate.id()).second) result.push_back(*std::move(best));
  }
  return result;
}

Result<std::unique_ptr<Archive>> open_to_write(const std::filesystem::path& file, const ArchiveOptions& options) {
  // Where no file can be made beside the archive, SQLite says so better, and nobody else can exchange the archive.
  auto lock = FileLock::try_take(archive_lock_file(file), FileLock::Kind::shared);
  if (lock && !*lock) {
    return fail(Error{errc::archive_busy, fmt::format("the archive {} is being repaired", file.string()),
                      "wait for the repair to end"});
  }
  KW_TRY(Database database, Database::open(file, OpenMode::create));
  KW_TRY_VOID(prepare_for_writing(database, options));
  return std::make_unique<SqliteArchive>(std::move(database), k_archive_version,
                                         lock ? *std::move(lock) : std::nullopt);
}

Result<std::unique_ptr<Archive>> open_to_read(const std::filesystem::path& file, OpenMode mode) {
  KW_TRY(Database database, Database::open(file, mode));
  KW_TRY(const std::int64_t version, check_for_reading(database));
  return std::make_unique<SqliteArchive>(std::move(database), version, std::nullopt);
}

}  // namespace

std::filesystem::path archive_lock_file(const std::filesystem::path& file) {
  return file.string() + ".lock";
}

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

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "archive/archive.hpp"
#include "archive/check.hpp"
#include "archive/sqlite.hpp"
#include "base/file_lock.hpp"
#include "base/unique_fd.hpp"

namespace kw {
namespace {

namespace fs = std::filesystem;

constexpr const char* k_log_suffix = "-wal";  ///< what SQLite has written and not yet moved into the file

fs::path with_suffix(const fs::path& file, const std::string& suffix) {
  return file.string() + suffix;
}

void remove_database(const fs::path& file) {
  std::error_code ignored;
  for (const char* const suffix : {"", k_log_suffix, "-shm", ".lock"}) fs::remove(with_suffix(file, suffix), ignored);
}

/// Removes a file of ours, and what lies beside it, when it is destroyed.
class TemporaryDatabase {
 public:
  explicit TemporaryDatabase(fs::path file) : file_(std::move(file)) { remove_database(file_); }
  ~TemporaryDatabase() { remove_database(file_); }
  TemporaryDatabase(const TemporaryDatabase&) = delete;
  TemporaryDatabase& operator=(const TemporaryDatabase&) = delete;
  [[nodiscard]] const fs::path& file() const { return file_; }

 private:
  fs::path file_;
};

Error io_error(const char* doing, const fs::path& path, const std::error_code& error) {
  const bool full = error == std::errc::no_space_on_device;
  return Error{full ? errc::disk_full : errc::io,
               fmt::format("cannot {} {}: {}", doing, path.string(), error.message()),
               "the archive is as it was; a repair needs three times its size for a while"};
}

Result<void> flush(const fs::path& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.valid() && ::fsync(fd.get()) == 0) return {};
  return fail(io_error("write", path, {errno, std::generic_category()}));
}

/// Byte by byte: what SQLite would read from a damaged file is not all that it holds. Never over another file.
Result<void> copy_database(const fs::path& from, const fs::path& to) {
  for (const char* const suffix : {"", k_log_suffix}) {
    std::error_code error;
    if (*suffix != '\0' && !fs::exists(with_suffix(from, suffix), error)) continue;
    fs::copy_file(with_suffix(from, suffix), with_suffix(to, suffix), error);
    if (error) return fail(io_error("write", with_suffix(to, suffix), error));
    KW_TRY_VOID(flush(with_suffix(to, suffix)));
  }
  return {};
}

/// Rows are found through indexes: with these made anew from the tables, runs can be read that could not be. It may
/// cost others, of which only the index knows some rows; where it fails, nothing has changed.
void renew_indexes(const fs::path& file) {
  auto database = sqlite::Database::open(file, sqlite::OpenMode::create);
  if (database) (void)database->execute("REINDEX");
}

Result<void> copy_run(const Archive& from, const RunRecord& run, Archive& to) {
  KW_TRY(const auto attempts, from.attempts(run.id));
  KW_TRY(const auto turns, from.turns(run.id));
  KW_TRY_VOID(to.begin_run(run));
  for (const auto& attempt : attempts) KW_TRY_VOID(to.append(run.id, attempt));
  for (const auto& turn : turns) KW_TRY_VOID(to.append_turn(run.id, turn));
  return {};
}

struct RunSource {
  const Archive* archive;
  RunRecord run;
};

/// All of `ids`, which are newest first, in front of what is there.
Result<void> add_sources(const Archive& archive, const std::vector<std::string>& ids, std::vector<RunSource>& sources) {
  for (const auto& id : ids) {
    KW_TRY(auto run, archive.run(id));
    sources.insert(sources.begin(), {&archive, std::move(run)});
  }
  return {};
}

/// What is whole in `file`, and what is whole in `renewed` alone and has all its rows there. Oldest first, as they were
/// written: among runs of one second the order of their rows decides.
Result<void> copy_runs(const fs::path& file, const fs::path& renewed, const ArchiveState& state, const fs::path& to) {
  KW_TRY(auto more, check_archive(renewed));
  std::erase_if(more.whole, [&](const std::string& id) {
    const auto expected = state.rows.find(id);
    const bool known = std::find(state.whole.begin(), state.whole.end(), id) != state.whole.end();
    return known || (expected != state.rows.end() && more.rows[id] < expected->second);
  });
  KW_TRY(const auto first, open_archive(file, {.read_only = true}));
  KW_TRY(const auto second, open_archive(renewed, {.read_only = true}));
  std::vector<RunSource> sources;
  KW_TRY_VOID(add_sources(*second, more.whole, sources));
  KW_TRY_VOID(add_sources(*first, state.whole, sources));
  std::stable_sort(sources.begin(), sources.end(),
                   [](const RunSource& a, const RunSource& b) { return a.run.started_utc < b.run.started_utc; });
  KW_TRY(const auto copy, open_archive(to, {.durable = false}));
  for (const auto& source : sources) KW_TRY_VOID(copy_run(*source.archive, source.run, *copy));
  return {};
}

/// The log of the old file must not be taken for one of the new file: it goes first, and before that into the old file,
/// which a kill in between then leaves complete.
Result<void> exchange(const fs::path& file, const fs::path& repaired) {
  KW_TRY_VOID(flush(repaired));
  if (auto old = sqlite::Database::open(file, sqlite::OpenMode::create)) {
    (void)old->execute("PRAGMA wal_checkpoint(TRUNCATE)");
  }
  std::error_code error;
  for (const char* const suffix : {k_log_suffix, "-shm"}) {
    fs::remove(with_suffix(file, suffix), error);
    if (error) return fail(io_error("remove", with_suffix(file, suffix), error));
  }
  fs::rename(repaired, file, error);
  if (error) return fail(io_error("replace", file, error));
  return flush(file.has_parent_path() ? file.parent_path() : fs::path("."));
}

}  // namespace

Result<ArchiveRepair> repair_archive(const fs::path& file, const std::string& stamp) {
  ArchiveRepair repair;
  // A file that is no archive is said to be none, by the check, before anything is made beside it.
  if (!open_archive(file, {.read_only = true})) KW_TRY_VOID(check_archive(file));
  KW_TRY(const auto lock, FileLock::try_take(archive_lock_file(file), FileLock::Kind::exclusive));
  if (!lock) {
    return fail(Error{errc::archive_busy, fmt::format("the archive {} is held by another process", file.string()),
                      "wait for its runs to end, or end them"});
  }
  KW_TRY(repair.state, check_archive(file));
  if (repair.state.damage.empty()) return repair;
  repair.kept = with_suffix(file, ".damaged-" + stamp);
  KW_TRY_VOID(copy_database(file, repair.kept));
  const TemporaryDatabase renewed(with_suffix(file, ".renewed"));
  const TemporaryDatabase repaired(with_suffix(file, ".repaired"));
  KW_TRY_VOID(copy_database(file, renewed.file()));
  renew_indexes(renewed.file());
  KW_TRY_VOID(copy_runs(file, renewed.file(), repair.state, repaired.file()));
  KW_TRY_VOID(exchange(file, repaired.file()));
  KW_TRY(const auto now, check_archive(file));
  repair.state.whole = now.whole;
  repair.state.attempts = now.attempts;
  repair.state.turns = now.turns;
  std::erase_if(repair.state.damage, [&](const ArchiveDamage& one) {
    return std::find(now.whole.begin(), now.whole.end(), one.run_id) != now.whole.end();
  });
  return repair;
}

}  // namespace kw

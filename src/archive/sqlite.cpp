#include "archive/sqlite.hpp"

#include <sqlite3.h>

#include <cerrno>
#include <cstdint>
#include <utility>

#include "archive/archive.hpp"
#include "archive/damage.hpp"
#include "base/hash.hpp"

namespace kw::sqlite {
namespace {

/// How long a writer waits for another one: longer than any transaction of ours, short enough to be noticed as a hang.
constexpr int k_busy_timeout_ms = 10'000;

Error disk_full(const std::string& name) {
  return Error{errc::disk_full,
               fmt::format("the archive {} cannot grow: the disk is full or its size limit is reached", name),
               "free some space, then resume the run; everything recorded before is safe"};
}

/// What an SQLite result code means to us. The extended code tells a full disk from a broken one when SQLite maps
/// shared memory, where it reports an I/O error only.
Error translate(int code, const char* detail, int system_errno, const std::filesystem::path& file) {
  const std::string name = file.string();
  switch (code & 0xff) {
    case SQLITE_FULL:
      return disk_full(name);
    case SQLITE_IOERR:
      if (system_errno == ENOSPC || system_errno == EDQUOT) return disk_full(name);
      return Error{errc::io, fmt::format("cannot read or write the archive {}: {}", name, detail)};
    case SQLITE_NOTADB:
      return Error{errc::archive_corrupt, fmt::format("{} is not an archive", name),
                   "name another file, or move this one away to start a new archive"};
    case SQLITE_CORRUPT:
      return Error{errc::archive_corrupt, fmt::format("the archive {} is damaged: {}", name, detail),
                   damage_hint(file)};
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_READONLY:
      return Error{errc::archive_open, fmt::format("cannot open the archive {}: {}", name, detail),
                   "check that its directory exists and that you may write to it"};
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return Error{errc::archive_busy, fmt::format("the archive {} is held by another process", name),
                   "wait for the other run to end, or give this one an archive of its own"};
    default:
      return Error{errc::archive_corrupt, fmt::format("the archive {} failed: {}", name, detail), damage_hint(file)};
  }
}

Error current_error(sqlite3* handle, const std::filesystem::path& file) {
  return translate(sqlite3_extended_errcode(handle), sqlite3_errmsg(handle), sqlite3_system_errno(handle), file);
}

/// kw_checksum(...): a number that another value in any column, or another order of them, gives only by chance.
void checksum(sqlite3_context* context, int count, sqlite3_value** values) {
  Hasher hasher;
  for (int i = 0; i < count; ++i) {
    hasher.add(std::int64_t{sqlite3_value_type(values[i]) == SQLITE_NULL});
    const auto* const text = reinterpret_cast<const char*>(sqlite3_value_text(values[i]));
    hasher.add(std::string_view(text == nullptr ? "" : text, static_cast<std::size_t>(sqlite3_value_bytes(values[i]))));
  }
  std::uint64_t number = 0;
  const Hash hash = hasher.finish();
  for (std::size_t i = 0; i < sizeof number; ++i) number = number << 8U | hash.bytes.at(i);
  sqlite3_result_int64(context, static_cast<std::int64_t>(number));
}

/// A path as the URI that SQLite opens; '?', '#' and '%' would otherwise end it.
std::string frozen_uri(const std::filesystem::path& file) {
  std::string uri = "file:";
  for (const char c : file.string()) {
    const bool special = c == '?' || c == '#' || c == '%';
    uri += special ? fmt::format("%{:02x}", static_cast<int>(c)) : std::string(1, c);
  }
  return uri + "?immutable=1";
}

}  // namespace

void Database::Close::operator()(sqlite3* handle) const {
  sqlite3_close_v2(handle);
}
void Statement::Finalize::operator()(sqlite3_stmt* handle) const {
  sqlite3_finalize(handle);
}

Result<Database> Database::open(const std::filesystem::path& file, OpenMode mode) {
  int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  flags |= mode == OpenMode::create ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
  if (mode == OpenMode::frozen) flags |= SQLITE_OPEN_URI;
  sqlite3* raw = nullptr;
  const std::string name = mode == OpenMode::frozen ? frozen_uri(file) : file.string();
  const int code = sqlite3_open_v2(name.c_str(), &raw, flags, nullptr);
  Database database(std::unique_ptr<sqlite3, Close>(raw), file);  // SQLite gives a handle even on failure
  if (raw == nullptr) return fail(errc::archive_open, "cannot open the archive {}: out of memory", file.string());
  if (code != SQLITE_OK) return fail(current_error(raw, file));
  sqlite3_busy_timeout(raw, k_busy_timeout_ms);
  constexpr int k_any_count = -1;
  constexpr int k_kind = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY;
  if (sqlite3_create_function(raw, "kw_checksum", k_any_count, k_kind, nullptr, &checksum, nullptr, nullptr) !=
      SQLITE_OK) {
    return fail(current_error(raw, file));
  }
  return database;
}

Result<void> Database::execute(const std::string& sql) {
  if (sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    return fail(current_error(handle_.get(), file_));
  }
  return {};
}

Result<void> Database::use_write_ahead_log() {
  constexpr int k_step_ms = 10;
  for (int waited_ms = 0;; waited_ms += k_step_ms) {
    auto done = execute("PRAGMA journal_mode = WAL");
    if (done || done.error().code != errc::archive_busy || waited_ms >= k_busy_timeout_ms) return done;
    sqlite3_sleep(k_step_ms);
  }
}

Result<Statement> Database::prepare(std::string_view sql) const {
  sqlite3_stmt* raw = nullptr;
  const int code = sqlite3_prepare_v2(handle_.get(), sql.data(), static_cast<int>(sql.size()), &raw, nullptr);
  if (code != SQLITE_OK) return fail(current_error(handle_.get(), file_));
  return Statement(raw, file_);
}

Result<std::int64_t> Database::integer(std::string_view sql) const {
  KW_TRY(Statement statement, prepare(sql));
  KW_TRY(const bool found, statement.step());
  KW_CHECK(found, "{}", sql);
  return statement.integer(0);
}

Result<void> Database::transaction(const std::function<Result<void>()>& body) {
  KW_TRY_VOID(execute("BEGIN IMMEDIATE"));
  Result<void> done = body();
  if (done) done = execute("COMMIT");
  // SQLite has already rolled back by itself after some errors (a full disk); asking again would hide the first cause.
  if (!done && sqlite3_get_autocommit(handle_.get()) == 0) (void)execute("ROLLBACK");
  return done;
}

std::int64_t Database::changes() const {
  return sqlite3_changes64(handle_.get());
}

void Statement::keep_first_failure(int code) {
  if (bind_failure_ == SQLITE_OK) bind_failure_ = code;
}

Statement& Statement::bind(int position, std::string_view text) {
  keep_first_failure(
      sqlite3_bind_text64(handle_.get(), position, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
  return *this;
}

Statement& Statement::bind(int position, std::int64_t value) {
  keep_first_failure(sqlite3_bind_int64(handle_.get(), position, value));
  return *this;
}

Statement& Statement::bind(int position, std::optional<std::int64_t> value) {
  if (value) return bind(position, *value);
  keep_first_failure(sqlite3_bind_null(handle_.get(), position));
  return *this;
}

Statement& Statement::bind_optional(int position, const std::optional<std::string>& text) {
  if (text) return bind(position, std::string_view(*text));
  keep_first_failure(sqlite3_bind_null(handle_.get(), position));
  return *this;
}

Result<bool> Statement::step() {
  sqlite3* const database = sqlite3_db_handle(handle_.get());
  if (bind_failure_ != SQLITE_OK) return fail(current_error(database, file_));
  switch (sqlite3_step(handle_.get())) {
    case SQLITE_ROW:
      return true;
    case SQLITE_DONE:
      return false;
    default:
      return fail(current_error(database, file_));
  }
}

Result<void> Statement::run() {
  KW_TRY(const bool row, step());
  KW_CHECK(!row, "{}", sqlite3_sql(handle_.get()));
  return {};
}

std::string Statement::text(int column) const {
  const auto* const bytes = reinterpret_cast<const char*>(sqlite3_column_text(handle_.get(), column));
  const auto length = static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), column));
  return bytes == nullptr ? std::string() : std::string(bytes, length);
}

std::optional<std::string> Statement::optional_text(int column) const {
  if (sqlite3_column_type(handle_.get(), column) == SQLITE_NULL) return std::nullopt;
  return text(column);
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(handle_.get(), column);
}

}  // namespace kw::sqlite

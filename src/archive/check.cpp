#include "archive/check.hpp"

#include <algorithm>

#include "archive/archive.hpp"
#include "archive/rows.hpp"
#include "archive/schema.hpp"
#include "base/text.hpp"

namespace kw {
namespace {

using sqlite::Database;
using sqlite::Statement;

template <typename T>
void note_damage(const RowsRead<T>& rows, const std::string& id, ArchiveState& state) {
  for (const auto& error : rows.damage) state.damage.push_back({id, error.message});
}

Result<void> check_run(const RowReader& reader, const std::string& id, ArchiveState& state) {
  const std::size_t before = state.damage.size();
  KW_TRY(const auto run, reader.run(id));
  KW_TRY(const auto attempts, reader.attempts(id));
  KW_TRY(const auto turns, reader.turns(id));
  note_damage(run, id, state);
  note_damage(attempts, id, state);
  note_damage(turns, id, state);
  if (state.damage.size() == before && run.whole.empty()) {
    state.damage.push_back({id, fmt::format("run {}: its row cannot be found", id)});
  }
  if (state.damage.size() > before) return {};
  // The last rows leave no gap where they are missing.
  const auto found = std::ssize(attempts.whole) + std::ssize(turns.whole);
  if (found < state.rows[id]) {
    state.damage.push_back(
        {id, fmt::format("run {}: {} of its {} attempts and turns can be found", id, found, state.rows[id])});
    return {};
  }
  const auto best = run.whole.front().best_ordinal;
  if (best && *best >= std::ssize(attempts.whole)) {
    state.damage.push_back({id, fmt::format("run {}: its best attempt {} is missing", id, *best)});
    return {};
  }
  state.whole.push_back(id);
  state.attempts += std::ssize(attempts.whole);
  state.turns += std::ssize(turns.whole);
  return {};
}

/// What SQLite finds in pages and indexes. It stops at a page that it cannot read, which is damage as well.
void check_file(const Database& database, ArchiveState& state) {
  auto select = database.prepare("PRAGMA integrity_check(20)");
  while (select) {
    const auto found = select->step();
    if (!found) state.damage.push_back({"", found.error().message});
    if (!found || !*found) return;
    if (select->text(0) != "ok") state.damage.push_back({"", "the file: " + select->text(0)});
  }
  state.damage.push_back({"", select.error().message});
}

/// As open_archive opens to read.
Result<Database> open_to_check(const std::filesystem::path& file) {
  KW_TRY_VOID(open_archive(file, {.read_only = true}));
  auto database = Database::open(file, sqlite::OpenMode::read_only);
  if (database && database->integer("PRAGMA user_version")) return database;
  return Database::open(file, sqlite::OpenMode::frozen);
}

Result<ArchiveState> check_all(const std::filesystem::path& file) {
  KW_TRY(const Database database, open_to_check(file));
  KW_TRY(const std::int64_t version, check_for_reading(database));
  const RowReader reader(database, version);
  ArchiveState state;
  KW_TRY(const auto ids, reader.newest_ids(""));
  state.rows = reader.rows_by_run();
  for (const auto& id : ids) KW_TRY_VOID(check_run(reader, id, state));
  KW_TRY(const auto lost, reader.ids_without_run());
  for (const auto& id : lost) {
    state.damage.push_back({id, fmt::format("run {}: its row is missing, and attempts or turns of it are there", id)});
  }
  check_file(database, state);
  return state;
}

}  // namespace

std::vector<std::string> ArchiveState::damaged_runs() const {
  std::vector<std::string> ids;
  for (const auto& one : damage) {
    const bool known = one.run_id.empty() || std::find(ids.begin(), ids.end(), one.run_id) != ids.end();
    if (!known) ids.push_back(one.run_id);
  }
  return ids;
}

Result<ArchiveState> check_archive(const std::filesystem::path& file) {
  auto state = check_all(file);
  if (state || state.error().code != errc::archive_corrupt) return state;
  // Elsewhere the hint is to check and to repair.
  state.error().hint = fmt::format(
      "no run can be found without the first page and the names of the tables; sqlite3 {} .recover > recovered.sql may "
      "save a part, and a new archive begins when the file is moved away",
      shell_word(file.string()));
  return state;
}

}  // namespace kw

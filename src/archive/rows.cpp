#include "archive/rows.hpp"

#include <algorithm>
#include <set>
#include <tuple>

#include "archive/archive.hpp"
#include "archive/damage.hpp"
#include "archive/schema.hpp"
#include "base/hash.hpp"
#include "record/json.hpp"

namespace kw {
namespace {

using sqlite::Statement;

constexpr const char* k_other_bytes = "its bytes are not those that were written";

/// All that a query gives until it ends or meets a page that cannot be read; the error is lost, the rest is not.
std::vector<std::string> readable_texts(const sqlite::Database& database, std::string_view sql) {
  std::vector<std::string> texts;
  auto select = database.prepare(sql);
  while (select) {
    const auto found = select->step();
    if (!found || !*found) break;
    texts.push_back(select->text(0));
  }
  return texts;
}

/// Takes the next row. Pages that cannot be read end the rows, as one more damage.
template <typename T>
Result<bool> next_row(Statement& select, RowsRead<T>& rows) {
  auto found = select.step();
  if (found || found.error().code != errc::archive_corrupt) return found;
  rows.damage.push_back(std::move(found).error());
  return false;
}

/// A bundle or a problem: keyed by the hash of its record. Remembers what it has seen, because attempts share them.
class KeyedRecords {
 public:
  [[nodiscard]] bool holds(const std::string& key, const std::string& record) {
    if (known_.count(key) > 0) return true;
    if (hash_bytes(record).hex() != key) return false;
    known_.insert(key);
    return true;
  }

 private:
  std::set<std::string> known_;
};

}  // namespace

/// Of a record that SQLite gave back whole but that is none: damage, as far as the archive is concerned.
Error RowReader::damaged(const Error& cause, const std::string& row) const {
  return damaged(cause.message, row);
}

Error RowReader::damaged(const std::string& cause, const std::string& row) const {
  return Error{errc::archive_corrupt,
               fmt::format("the archive {} is damaged at {}: {}", database_->file().string(), row, cause),
               damage_hint(database_->file())};
}

/// As SQL. Rows of older tables have no checksum, which are held to nothing but their records.
std::string RowReader::checksum_holds(std::string_view table, std::string_view columns) const {
  if (version_ < 4) return "1";
  return fmt::format("({0}.checksum IS NULL OR {0}.checksum = kw_checksum({1}))", table, columns);
}

Result<bool> RowReader::has_run(const std::string& id) const {
  KW_TRY(Statement select, database_->prepare("SELECT 1 FROM runs WHERE id = ?1"));
  return select.bind(1, id).step();
}

/// Where the table cannot be read through, from both its ends and from both those of the index of its ids.
std::vector<std::string> RowReader::salvaged_ids() const {
  std::set<std::string> ids;
  for (const char* const sql :
       {"SELECT id FROM runs NOT INDEXED ORDER BY rowid", "SELECT id FROM runs NOT INDEXED ORDER BY rowid DESC",
        "SELECT id FROM runs INDEXED BY sqlite_autoindex_runs_1 ORDER BY id",
        "SELECT id FROM runs INDEXED BY sqlite_autoindex_runs_1 ORDER BY id DESC"}) {
    const auto found = readable_texts(*database_, sql);
    ids.insert(found.begin(), found.end());
  }
  std::vector<std::tuple<std::string, std::int64_t, std::string>> dated;
  for (const auto& id : ids) {
    dated.emplace_back("", 0, id);
    auto select = database_->prepare("SELECT started_utc, rowid FROM runs WHERE id = ?1");
    if (!select) continue;
    const auto found = select->bind(1, id).step();
    if (found && *found) dated.back() = {select->text(0), select->integer(1), id};
  }
  std::sort(dated.rbegin(), dated.rend());
  std::vector<std::string> sorted;
  for (auto& [started, row, id] : dated) sorted.push_back(id);
  return sorted;
}

/// substr and not LIKE: a prefix is text, '%' in it too.
Result<std::vector<std::string>> RowReader::newest_ids(std::string_view prefix) const {
  KW_TRY(Statement select, database_->prepare("SELECT id FROM runs WHERE substr(id, 1, length(?1)) = ?1 "
                                              "ORDER BY started_utc DESC, rowid DESC"));
  select.bind(1, prefix);
  std::vector<std::string> ids;
  for (;;) {
    const auto found = select.step();
    if (!found && found.error().code != errc::archive_corrupt) return fail(found.error());
    if (!found) break;
    if (!*found) return ids;
    ids.push_back(select.text(0));
  }
  ids = salvaged_ids();
  std::erase_if(ids, [&](const std::string& id) { return !id.starts_with(prefix); });
  return ids;
}

Result<std::vector<std::string>> RowReader::ids_without_run() const {
  std::set<std::string> ids;
  for (const char* const table : {"attempts", "turns"}) {
    if (version_ < 2 && std::string_view(table) == "turns") continue;
    const auto named = readable_texts(*database_, fmt::format("SELECT DISTINCT run_id FROM {}", table));
    for (const auto& id : named) {
      const auto known = has_run(id);
      if (known && !*known) ids.insert(id);
    }
  }
  return std::vector<std::string>(ids.begin(), ids.end());
}

std::map<std::string, std::int64_t> RowReader::rows_by_run() const {
  const auto counted = [&](const char* table, const std::string& source) {
    std::map<std::string, std::int64_t> counts;
    if (version_ < 2 && std::string_view(table) == "turns") return counts;
    const auto ids = readable_texts(*database_, fmt::format("SELECT run_id FROM {} {}", table, source));
    for (const auto& id : ids) ++counts[id];
    return counts;
  };
  std::map<std::string, std::int64_t> rows;
  for (const char* const table : {"attempts", "turns"}) {
    auto most = counted(table, "NOT INDEXED");
    const auto by_index = counted(table, fmt::format("INDEXED BY sqlite_autoindex_{}_1", table));
    for (const auto& [id, count] : by_index) most[id] = std::max(most[id], count);
    for (const auto& [id, count] : most) rows[id] += count;
  }
  return rows;
}

Result<RowsRead<RunRecord>> RowReader::run(const std::string& id) const {
  // An older archive that was opened for reading has no table of problems.
  const std::string whole =
      checksum_holds("r",
                     "r.id, r.started_utc, r.problem, r.op, r.target, r.device, r.status, r.best_ordinal, r.record, "
                     "r.style, r.problem_source");
  KW_TRY(
      Statement select,
      database_->prepare(version_ < 3 ? "SELECT record, NULL, NULL, 1 FROM runs WHERE id = ?1"
                                      : fmt::format("SELECT r.record, p.record, r.problem_source, {} FROM runs r "
                                                    "LEFT JOIN problems p ON p.hash = r.problem_source WHERE r.id = ?1",
                                                    whole)));
  select.bind(1, id);
  RowsRead<RunRecord> rows;
  KW_TRY(const bool found, next_row(select, rows));
  if (!found) return rows;
  const std::string row = fmt::format("run {}", id);
  const auto problem = select.optional_text(1);
  auto decoded = decode_apart(RunParts{select.text(0), problem});
  const auto key = select.optional_text(2);
  if (key && !problem) {
    rows.damage.push_back(damaged("its problem is missing", row));
  } else if (!decoded) {
    rows.damage.push_back(damaged(decoded.error(), row));
  } else if (select.integer(3) != 1 || decoded->id != id) {
    rows.damage.push_back(damaged(k_other_bytes, row));
  } else if (key && !KeyedRecords().holds(*key, *problem)) {
    rows.damage.push_back(damaged("the bytes of its problem are not those that were written", row));
  } else {
    rows.whole.push_back(*std::move(decoded));
  }
  return rows;
}

Result<RowsRead<Attempt>> RowReader::attempts(const std::string& run_id) const {
  const std::string whole = checksum_holds("a",
                                           "a.run_id, a.ordinal, a.candidate, a.bundle, a.status, a.reason, "
                                           "a.failed_gate, a.median_ns, a.became_best, a.record");
  KW_TRY(Statement select,
         database_->prepare(fmt::format("SELECT a.ordinal, a.record, b.record, a.bundle, {} FROM attempts a "
                                        "LEFT JOIN bundles b ON b.hash = a.bundle WHERE a.run_id = ?1 "
                                        "ORDER BY a.ordinal",
                                        whole)));
  select.bind(1, run_id);
  RowsRead<Attempt> rows;
  KeyedRecords bundles;
  for (std::int64_t next = 0;; ++next) {
    KW_TRY(const bool found, next_row(select, rows));
    if (!found) return rows;
    const std::int64_t ordinal = select.integer(0);
    const std::string row = fmt::format("attempt {} of run {}", ordinal, run_id);
    const auto bundle = select.optional_text(2);
    auto decoded = decode_apart(AttemptParts{select.text(1), bundle.value_or("")});
    if (!bundle) {
      rows.damage.push_back(damaged("its bundle is missing", row));
    } else if (!decoded) {
      rows.damage.push_back(damaged(decoded.error(), row));
    } else if (select.integer(4) != 1 || decoded->ordinal != ordinal) {
      rows.damage.push_back(damaged(k_other_bytes, row));
    } else if (!bundles.holds(select.text(3), *bundle)) {
      rows.damage.push_back(damaged("the bytes of its bundle are not those that were written", row));
    } else {
      rows.whole.push_back(*std::move(decoded));
    }
    if (ordinal != next) {
      rows.damage.push_back(damaged("attempts before it are missing", row));
      next = ordinal;
    }
  }
}

Result<RowsRead<Turn>> RowReader::turns(const std::string& run_id) const {
  RowsRead<Turn> rows;
  // A version 1 archive opened for reading has no such table, and no model took part in its runs.
  if (version_ < 2) return rows;
  KW_TRY(Statement select, database_->prepare(fmt::format(
                               "SELECT t.sequence, t.record, {} FROM turns t WHERE t.run_id = ?1 ORDER BY t.sequence",
                               checksum_holds("t", "t.run_id, t.sequence, t.fault, t.record"))));
  select.bind(1, run_id);
  for (std::int64_t next = 0;; ++next) {
    KW_TRY(const bool found, next_row(select, rows));
    if (!found) return rows;
    const std::int64_t sequence = select.integer(0);
    const std::string row = fmt::format("turn {} of run {}", sequence, run_id);
    auto decoded = decode_turn(select.text(1));
    if (!decoded) {
      rows.damage.push_back(damaged(decoded.error(), row));
    } else if (select.integer(2) != 1) {
      rows.damage.push_back(damaged(k_other_bytes, row));
    } else {
      rows.whole.push_back(*std::move(decoded));
    }
    if (sequence != next) {
      rows.damage.push_back(damaged("turns before it are missing", row));
      next = sequence;
    }
  }
}

}  // namespace kw

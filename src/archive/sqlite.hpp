#pragma once
// A thin owner of SQLite's handles: statements are prepared and bound, rows are read by column, and every failure is an
// Error with one of our codes that names the file. Knows nothing about runs.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace kw::sqlite {

enum class OpenMode {
  create,     ///< read and write, made when it is not there
  read_only,  ///< must be there
  /// As read_only, for a file no other process can be writing: nothing beside the file is touched, so that it can be
  /// read from a write-protected directory.
  frozen,
};

class Statement;

/// SQL may call kw_checksum(COLUMN, ...): 64 bits over the values of a row, NULL and text and their order told apart.
/// Numbers count as their decimal digits.
class Database {
 public:
  [[nodiscard]] static Result<Database> open(const std::filesystem::path& file, OpenMode mode);

  /// Runs SQL that returns no rows.
  Result<void> execute(const std::string& sql);
  /// Writes ahead to a log from now on, as the file remembers. When two processes ask for it on a new file, SQLite
  /// refuses one of them without the waiting that it does elsewhere: this waits as long.
  Result<void> use_write_ahead_log();
  /// For SQL of ours: positional parameters ?1, ?2, ...
  [[nodiscard]] Result<Statement> prepare(std::string_view sql) const;
  /// The first column of the only row, such as a PRAGMA's value.
  [[nodiscard]] Result<std::int64_t> integer(std::string_view sql) const;
  /// Body within BEGIN IMMEDIATE and COMMIT; rolled back when the body or the commit fails.
  Result<void> transaction(const std::function<Result<void>()>& body);
  /// Rows inserted, updated or deleted by the last statement.
  [[nodiscard]] std::int64_t changes() const;
  [[nodiscard]] const std::filesystem::path& file() const { return file_; }

 private:
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  Database(std::unique_ptr<sqlite3, Close> handle, std::filesystem::path file)
      : handle_(std::move(handle)), file_(std::move(file)) {}

  std::unique_ptr<sqlite3, Close> handle_;
  std::filesystem::path file_;
};

/// Valid while its Database is; text is copied in and out.
class Statement {
 public:
  Statement& bind(int position, std::string_view text);
  Statement& bind(int position, std::int64_t value);
  Statement& bind(int position, std::optional<std::int64_t> value);
  /// NULL where there is no text.
  Statement& bind_optional(int position, const std::optional<std::string>& text);
  /// Steps to the next row; false after the last one. A failed bind is reported by the first step.
  [[nodiscard]] Result<bool> step();
  /// For statements that return no rows.
  Result<void> run();

  [[nodiscard]] std::string text(int column) const;
  /// Absent: NULL.
  [[nodiscard]] std::optional<std::string> optional_text(int column) const;
  [[nodiscard]] std::int64_t integer(int column) const;

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* handle) const;
  };
  Statement(sqlite3_stmt* handle, std::filesystem::path file) : handle_(handle), file_(std::move(file)) {}
  void keep_first_failure(int code);

  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
  std::filesystem::path file_;
  int bind_failure_ = 0;
};

}  // namespace kw::sqlite

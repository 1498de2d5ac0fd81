#pragma once
// What the archive's tests share: a directory of their own, and records compared by their text.

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "archive/archive.hpp"
#include "archive/sqlite.hpp"
#include "record/json.hpp"
#include "record/testing/synthetic_run.hpp"

namespace kw {

class ArchiveTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* const test = ::testing::UnitTest::GetInstance()->current_test_info();
    directory_ = std::filesystem::temp_directory_path() / fmt::format("kw_archive_{}_{}", test->name(), ::getpid());
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
    file_ = directory_ / "runs.sqlite";
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  [[nodiscard]] std::unique_ptr<Archive> open(const ArchiveOptions& options = {}) const {
    auto archive = open_archive(file_, options);
    EXPECT_TRUE(archive) << archive.error().to_string();
    return archive ? *std::move(archive) : nullptr;
  }

  std::filesystem::path directory_, file_;
};

inline void expect_error(const Error& error, ErrorCode code, const std::string& message) {
  EXPECT_EQ(error.code.name, code.name);
  EXPECT_EQ(error.message, message);
}

inline void expect_attempts(const Archive& archive, const std::string& run_id, const std::vector<Attempt>& expected) {
  const auto stored = archive.attempts(run_id);
  ASSERT_TRUE(stored) << stored.error().to_string();
  ASSERT_EQ(stored->size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(encode((*stored)[i]), encode(expected[i])) << i;
}

inline RunRecord run_named(const std::string& id, const std::string& started) {
  RunRecord run = synthetic::run(1);
  run.id = id;
  run.started_utc = started;
  return run;
}

inline std::int64_t query(const std::filesystem::path& file, const std::string& sql) {
  auto database = sqlite::Database::open(file, sqlite::OpenMode::read_only);
  EXPECT_TRUE(database) << database.error().to_string();
  const auto value = database->integer(sql);
  EXPECT_TRUE(value) << value.error().to_string();
  return value.value_or(-1);
}

inline Turn some_turn(std::int64_t ordinal) {
  Turn turn;
  turn.ordinal = ordinal;
  turn.purpose = "first prompt";
  turn.request = {"some-model", {{ChatRole::system, "be fast"}, {ChatRole::user, "write \xff a kernel"}}, 0.7, {}};
  turn.reply.text = "```opencl\n...```";
  turn.reply.reasoning = "think";
  turn.reply.finish = ChatFinish::length;
  turn.reply.usage = {10, 20, 15, 5, false};
  turn.fault = ReplyFault::cut_off;
  turn.fault_message = "the token limit ended it";
  return turn;
}

}  // namespace kw

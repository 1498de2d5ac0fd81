// Archives of older programs, and of newer ones.

#include "archive/archive.hpp"
#include "archive/schema.hpp"
#include "archive/testing/test_support.hpp"
#include "base/file_system.hpp"

namespace kw {
namespace {

TEST_F(ArchiveTest, an_archive_of_version_1_is_read_as_it_is_and_brought_up_to_date_by_a_writer) {
  const auto synthetic = synthetic_run(11, 3);
  {
    const auto archive = open();
    ASSERT_TRUE(archive->begin_run(synthetic.run));
    for (const auto& attempt : synthetic.attempts) ASSERT_TRUE(archive->append(synthetic.run.id, attempt));
  }
  {
    auto database = sqlite::Database::open(file_, sqlite::OpenMode::create);
    ASSERT_TRUE(
        database->execute("DROP TABLE turns; ALTER TABLE runs DROP COLUMN style; "
                          "ALTER TABLE runs DROP COLUMN problem_source; DROP TABLE problems; "
                          "ALTER TABLE runs DROP COLUMN checksum; ALTER TABLE attempts DROP COLUMN checksum"));
    ASSERT_TRUE(database->execute("PRAGMA user_version = 1"));
  }
  const auto reader = open({.read_only = true});
  EXPECT_TRUE(reader->turns(synthetic.run.id).value().empty());
  expect_attempts(*reader, synthetic.run.id, synthetic.attempts);
  const auto writer = open();
  EXPECT_EQ(query(file_, "PRAGMA user_version"), k_archive_version);
  ASSERT_TRUE(writer->append_turn(synthetic.run.id, some_turn(0)));
  expect_attempts(*writer, synthetic.run.id, synthetic.attempts);
}

/// The file that the program of version 2 left behind (testing/version_2.sql).
void make_version_2(const std::filesystem::path& file) {
  const auto sql = RealFileSystem().read("src/archive/testing/version_2.sql", 1 << 20);
  ASSERT_TRUE(sql) << sql.error().to_string();
  auto database = sqlite::Database::open(file, sqlite::OpenMode::create);
  const auto made = database->execute(*sql);
  ASSERT_TRUE(made) << made.error().to_string();
}

TEST_F(ArchiveTest, an_archive_of_version_2_is_read_as_it_is) {
  make_version_2(file_);
  const auto reader = open({.read_only = true});
  EXPECT_EQ(query(file_, "PRAGMA user_version"), 2) << "a reader changes nothing";
  const auto run = reader->run("last");
  ASSERT_TRUE(run) << run.error().to_string();
  EXPECT_EQ(run->id, "4f1c0a9be27d3356");
  EXPECT_EQ(run->best_accuracy.size(), 1U);
  EXPECT_FALSE(run->style.has_value());
  EXPECT_FALSE(run->problem_source.has_value());
  const auto attempts = reader->attempts(run->id).value();
  ASSERT_EQ(attempts.size(), 3U);
  for (const auto& attempt : attempts) EXPECT_FALSE(attempt.accuracy.has_value()) << attempt.ordinal;
  EXPECT_EQ(attempts[1].provenance.turn, 0);
  EXPECT_EQ(attempts[1].provenance.chain, 2);
  EXPECT_EQ(reader->turns(run->id)->at(0).purpose, "first prompt");
  EXPECT_EQ(reader->bests("attention", "opencl", 10)->size(), 1U);
}

TEST_F(ArchiveTest, an_archive_of_version_2_is_brought_up_to_date_with_all_its_rows_and_goes_on) {
  make_version_2(file_);
  RunRecord run = open({.read_only = true})->run("last").value();
  const auto old = open({.read_only = true})->attempts(run.id).value();
  const auto writer = open();
  EXPECT_EQ(query(file_, "PRAGMA user_version"), k_archive_version);
  EXPECT_EQ(encode(writer->run("last").value()), encode(run));
  EXPECT_EQ(query(file_, "SELECT count(*) FROM runs WHERE style IS NULL AND problem_source IS NULL"), 1);
  expect_attempts(*writer, run.id, old);
  EXPECT_EQ(writer->turns(run.id)->size(), 1U);

  Attempt next = old.back();
  next.ordinal = 3;
  next.accuracy = {{"primary", "normal", 0.3, 1}};
  ASSERT_TRUE(writer->append(run.id, next));
  run.style = "vector";
  run.problem_source = ProblemSource{"name = \"attention/alibi\"", {}, {}};
  ASSERT_TRUE(writer->update_run(run));
  auto all = old;
  all.push_back(next);
  expect_attempts(*writer, run.id, all);
  EXPECT_EQ(encode(writer->run(run.id).value()), encode(run));
  EXPECT_EQ(query(file_, "SELECT count(*) FROM runs WHERE style = 'vector'"), 1);
}

TEST_F(ArchiveTest, a_newer_version_is_refused) {
  ASSERT_NE(open(), nullptr);
  for (const int version : {-2147483644, 0}) {
    ASSERT_TRUE(sqlite::Database::open(file_, sqlite::OpenMode::create)
                    ->execute(fmt::format("PRAGMA user_version = {}", version)));
    const auto damaged = open_archive(file_, {.read_only = true});
    ASSERT_FALSE(damaged) << version;
    EXPECT_EQ(damaged.error().code, errc::archive_version) << version;
  }
  ASSERT_TRUE(sqlite::Database::open(file_, sqlite::OpenMode::create)->execute("PRAGMA user_version = 7"));
  const auto opened = open_archive(file_);
  ASSERT_FALSE(opened);
  expect_error(opened.error(), errc::archive_version,
               fmt::format("the archive {} has version 7; this program knows versions 1 to 4", file_.string()));
}

}  // namespace
}  // namespace kw

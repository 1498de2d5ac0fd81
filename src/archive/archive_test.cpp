#include "archive/archive.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "archive/schema.hpp"
#include "archive/testing/test_support.hpp"
#include "base/file_system.hpp"

namespace kw {
namespace {

using ::testing::HasSubstr;

TEST_F(ArchiveTest, gives_back_runs_and_attempts_after_reopening) {
  const SyntheticRun synthetic = synthetic_run(3, 30);
  {
    const auto archive = open();
    RunRecord begun = synthetic.run;
    begun.status = RunStatus::running;
    begun.best_ordinal.reset();
    ASSERT_TRUE(archive->begin_run(begun));
    for (const auto& attempt : synthetic.attempts) ASSERT_TRUE(archive->append(begun.id, attempt));
    ASSERT_TRUE(archive->update_run(synthetic.run));
  }
  const auto archive = open({.read_only = true});
  EXPECT_EQ(encode(archive->run(synthetic.run.id).value()), encode(synthetic.run));
  EXPECT_EQ(archive->runs()->size(), 1U);
  expect_attempts(*archive, synthetic.run.id, synthetic.attempts);
}

TEST_F(ArchiveTest, keeps_columns_for_queries_and_each_bundle_once) {
  const SyntheticRun synthetic = synthetic_run(3, 30);
  const auto archive = open();
  ASSERT_TRUE(archive->begin_run(synthetic.run));
  std::int64_t rejected = 0;
  for (const auto& attempt : synthetic.attempts) {
    ASSERT_TRUE(archive->append(synthetic.run.id, attempt));
    rejected += attempt.verdict.accepted() ? 0 : 1;
  }
  EXPECT_GT(rejected, 0);
  EXPECT_EQ(query(file_, "SELECT count(*) FROM attempts WHERE status = 2 AND reason <> 0 AND median_ns IS NULL"),
            rejected);
  EXPECT_EQ(query(file_, "SELECT count(*) FROM bundles"), 1);
  EXPECT_EQ(query(file_, "PRAGMA user_version"), k_archive_version);
}

TEST_F(ArchiveTest, gives_back_bundles_that_no_parser_would_take) {
  Attempt attempt = synthetic_run(1, 1).attempts.at(0);
  attempt.candidate.bundle.launches.clear();
  attempt.candidate.bundle.source = std::string("*/ \xff\0 \"", 7);
  const auto archive = open();
  ASSERT_TRUE(archive->begin_run(run_named("a", "2026-01-01T00:00:00Z")));
  ASSERT_TRUE(archive->append("a", attempt));
  expect_attempts(*archive, "a", {attempt});
}

TEST_F(ArchiveTest, repeating_an_append_changes_nothing_and_another_attempt_is_refused) {
  const auto attempts = synthetic_run(4, 2).attempts;
  const auto archive = open();
  ASSERT_TRUE(archive->begin_run(run_named("a", "2026-01-01T00:00:00Z")));
  ASSERT_TRUE(archive->append("a", attempts[0]));
  ASSERT_TRUE(archive->append("a", attempts[0]));
  Attempt other = attempts[1];
  other.ordinal = 0;
  const auto refused = archive->append("a", other);
  ASSERT_FALSE(refused);
  expect_error(refused.error(), errc::archive_conflict,
               "attempt 0 of run a is in the archive already, with other content");
  Attempt other_bundle = attempts[0];
  other_bundle.candidate.bundle.source += "// changed";
  EXPECT_FALSE(archive->append("a", other_bundle));
  expect_attempts(*archive, "a", {attempts[0]});
  EXPECT_EQ(query(file_, "SELECT count(*) FROM bundles"), 1) << "a refused append left its bundle behind";
}

TEST_F(ArchiveTest, beginning_a_run_twice_is_refused_only_when_it_differs) {
  const auto archive = open();
  RunRecord run = run_named("a", "2026-01-01T00:00:00Z");
  ASSERT_TRUE(archive->begin_run(run));
  ASSERT_TRUE(archive->begin_run(run));
  run.seed += 1;
  const auto refused = archive->begin_run(run);
  ASSERT_FALSE(refused);
  expect_error(refused.error(), errc::archive_conflict, "run a is in the archive already, with other content");
}

TEST_F(ArchiveTest, finds_runs_by_id_by_prefix_and_the_last_one) {
  const auto archive = open();
  for (const auto& [id, started] : {std::pair{"ab12", "2026-01-01T00:00:00Z"},
                                    {"ab34", "2026-03-01T00:00:00Z"},
                                    {"cd", "2026-02-01T00:00:00Z"},
                                    {"cd%e", "2025-02-01T00:00:00Z"}}) {
    ASSERT_TRUE(archive->begin_run(run_named(id, started)));
  }
  EXPECT_EQ(archive->run("ab12")->id, "ab12");
  EXPECT_EQ(archive->run("ab1")->id, "ab12");
  EXPECT_EQ(archive->run("cd")->id, "cd") << "an exact id wins over a longer one";
  EXPECT_EQ(archive->run("cd%")->id, "cd%e") << "a prefix is text, not a pattern";
  EXPECT_EQ(archive->run("last")->id, "ab34");
  EXPECT_EQ(archive->runs()->front().id, "ab34");

  const auto ambiguous = archive->run("ab");
  ASSERT_FALSE(ambiguous);
  expect_error(ambiguous.error(), errc::archive_no_run,
               fmt::format("\"ab\" begins 2 runs in {}: ab34, ab12", file_.string()));
  for (const char* unknown : {"zz", "%", ""}) {
    const auto missing = archive->run(unknown);
    ASSERT_FALSE(missing);
    expect_error(missing.error(), errc::archive_no_run,
                 fmt::format("there is no run \"{}\" in {}", unknown, file_.string()));
    EXPECT_EQ(missing.error().hint, "\"last\", or one of, newest first: ab34, cd, ab12, cd%e");
  }
}

TEST_F(ArchiveTest, unknown_runs_are_refused_everywhere) {
  const auto archive = open();
  const std::string message = fmt::format("there is no run \"nope\": {} holds none", file_.string());
  const Attempt attempt = synthetic_run(4, 1).attempts.at(0);
  expect_error(archive->append("nope", attempt).error(), errc::archive_no_run, message);
  expect_error(archive->attempts("nope").error(), errc::archive_no_run, message);
  expect_error(archive->update_run(run_named("nope", "")).error(), errc::archive_no_run, message);
  expect_error(archive->run("nope").error(), errc::archive_no_run, message);
  EXPECT_FALSE(archive->run("last"));
}

TEST_F(ArchiveTest, two_readers_follow_a_writer_without_waiting_or_seeing_halves) {
  const SyntheticRun synthetic = synthetic_run(9, 120);
  const auto writer = open();
  ASSERT_TRUE(writer->begin_run(synthetic.run));
  std::atomic<bool> done = false;
  const auto follow = [&](std::size_t& most) {
    const auto reader = open({.read_only = true});
    for (bool last = false; !last;) {
      last = done;
      const auto seen = reader->attempts(synthetic.run.id);
      ASSERT_TRUE(seen) << seen.error().to_string();
      ASSERT_GE(seen->size(), most);
      for (std::size_t i = most; i < seen->size(); ++i) {
        ASSERT_EQ(encode((*seen)[i]), encode(synthetic.attempts[i])) << i;
      }
      most = seen->size();
    }
  };
  std::size_t most[2] = {0, 0};
  std::thread first(follow, std::ref(most[0]));
  std::thread second(follow, std::ref(most[1]));
  for (const auto& attempt : synthetic.attempts) EXPECT_TRUE(writer->append(synthetic.run.id, attempt));
  done = true;
  first.join();
  second.join();
  EXPECT_EQ(most[0], 120U);
  EXPECT_EQ(most[1], 120U);
}

TEST_F(ArchiveTest, a_full_file_is_a_clear_error_and_earlier_rows_are_intact) {
  auto attempts = synthetic_run(5, 60).attempts;
  for (auto& attempt : attempts) attempt.build.log.assign(20'000, 'x');
  std::vector<Attempt> kept;
  {
    const auto archive = open({.max_pages = 64});
    ASSERT_TRUE(archive->begin_run(run_named("a", "2026-01-01T00:00:00Z")));
    Result<void> appended;
    for (const auto& attempt : attempts) {
      appended = archive->append("a", attempt);
      if (!appended) break;
      kept.push_back(attempt);
    }
    ASSERT_FALSE(appended) << "64 pages of 4 KiB cannot hold 60 attempts of 20 kB";
    expect_error(
        appended.error(), errc::disk_full,
        fmt::format("the archive {} cannot grow: the disk is full or its size limit is reached", file_.string()));
    EXPECT_EQ(appended.error().hint, "free some space, then resume the run; everything recorded before is safe");
    EXPECT_GT(kept.size(), 3U);
    expect_attempts(*archive, "a", kept);
  }
  EXPECT_EQ(query(file_, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'"), 1);
  const auto archive = open();  // with space again, the run goes on where it stopped
  ASSERT_TRUE(archive->append("a", attempts[kept.size()]));
  kept.push_back(attempts[kept.size()]);
  expect_attempts(*archive, "a", kept);
}

TEST_F(ArchiveTest, files_that_are_no_archive_are_refused) {
  RealFileSystem files;
  ASSERT_TRUE(files.write_atomic(file_, std::string(5000, 'n')));
  for (const bool read_only : {false, true}) {
    const auto opened = open_archive(file_, {.read_only = read_only});
    ASSERT_FALSE(opened);
    expect_error(opened.error(), errc::archive_corrupt, fmt::format("{} is not an archive", file_.string()));
  }
  std::filesystem::remove(file_);
  auto foreign = sqlite::Database::open(file_, sqlite::OpenMode::create);
  ASSERT_TRUE(foreign->execute("CREATE TABLE bookmarks (url TEXT)"));
  const auto opened = open_archive(file_);
  ASSERT_FALSE(opened);
  expect_error(opened.error(), errc::archive_corrupt,
               fmt::format("{} is a database of another program, not an archive", file_.string()));
}

TEST_F(ArchiveTest, turns_come_back_in_the_order_their_replies_were_taken) {
  const auto archive = open();
  ASSERT_TRUE(archive->begin_run(run_named("a", "2026-01-01T00:00:00Z")));
  ASSERT_TRUE(archive->append_turn("a", some_turn(3)));
  ASSERT_TRUE(archive->append_turn("a", some_turn(1)));
  const auto turns = archive->turns("a");
  ASSERT_TRUE(turns) << turns.error().to_string();
  ASSERT_EQ(turns->size(), 2U);
  EXPECT_EQ(encode(turns->at(0)), encode(some_turn(3)));
  EXPECT_EQ(encode(turns->at(1)), encode(some_turn(1)));
  EXPECT_EQ(turns->at(0).request, some_turn(3).request);
  EXPECT_EQ(archive->append_turn("b", some_turn(0)).error().code, errc::archive_no_run);
}

TEST_F(ArchiveTest, runs_of_one_problem_share_what_it_was_read_from) {
  const auto archive = open();
  RunRecord one = run_named("a", "2026-01-01T00:00:00Z");
  one.problem_source = ProblemSource{"op = \"attention\"", {}, {{{"Sq=8"}, std::nullopt}}};
  const std::string bytes("\x93NUMPY\0", 7);
  one.problem_source->files = {{"table.npy", 7, hash_bytes(bytes), bytes}};
  RunRecord two = one;
  two.id = "b";
  ASSERT_TRUE(archive->begin_run(one));
  ASSERT_TRUE(archive->begin_run(one)) << "again";
  ASSERT_TRUE(archive->begin_run(two));
  ASSERT_TRUE(archive->begin_run(run_named("c", "2026-01-01T00:00:00Z")));
  EXPECT_EQ(query(file_, "SELECT count(*) FROM problems"), 1);
  EXPECT_EQ(encode(archive->run("b").value()), encode(two));
  EXPECT_FALSE(archive->run("c")->problem_source.has_value());
  one.problem_source->text += "# another";
  expect_error(archive->begin_run(one).error(), errc::archive_conflict,
               "run a is in the archive already, with other content");
}

TEST_F(ArchiveTest, damage_inside_the_file_is_reported_with_the_place) {
  {
    const auto archive = open();
    ASSERT_TRUE(archive->begin_run(run_named("a", "2026-01-01T00:00:00Z")));
    ASSERT_TRUE(archive->append("a", synthetic_run(5, 1).attempts.at(0)));
  }
  ASSERT_TRUE(sqlite::Database::open(file_, sqlite::OpenMode::create)
                  ->execute("UPDATE attempts SET record = replace(record, '\"ordinal\":0', '\"ordinal\":\"0\"')"));
  const auto read = open()->attempts("a");
  ASSERT_FALSE(read);
  expect_error(read.error(), errc::archive_corrupt,
               fmt::format("the archive {} is damaged at attempt 0 of run a: stored record: attempt.ordinal is a "
                           "string, expected a whole number",
                           file_.string()));
  const auto size = std::filesystem::file_size(file_);
  {
    std::fstream file(file_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(4096);
    file << std::string(size - 4096, '\x5a');
  }
  const auto reopened = open_archive(file_);
  const auto failed = reopened ? (*reopened)->run("a") : tl::unexpected(reopened.error());
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, errc::archive_corrupt);
  EXPECT_THAT(failed.error().message, HasSubstr("is damaged: database disk image is malformed"));
}

TEST_F(ArchiveTest, places_that_cannot_be_written_are_named) {
  const auto missing = open_archive(directory_ / "no such directory" / "runs.sqlite");
  ASSERT_FALSE(missing);
  expect_error(missing.error(), errc::archive_open,
               fmt::format("cannot open the archive {}: unable to open database file",
                           (directory_ / "no such directory" / "runs.sqlite").string()));
  EXPECT_EQ(missing.error().hint, "check that its directory exists and that you may write to it");
  const auto absent = open_archive(file_, {.read_only = true});
  ASSERT_FALSE(absent);
  expect_error(absent.error(), errc::archive_open, fmt::format("there is no archive at {}", file_.string()));
  EXPECT_FALSE(std::filesystem::exists(file_)) << "a read-only opening made the file";
}

/// Root may write everywhere, so the test goes on as nobody; what it made before belongs to root and is readable.
class AsAnotherUser {
 public:
  AsAnotherUser() : user_(::geteuid()) { EXPECT_EQ(::seteuid(user_ == 0 ? 65534 : user_), 0); }
  ~AsAnotherUser() { EXPECT_EQ(::seteuid(user_), 0); }
  AsAnotherUser(const AsAnotherUser&) = delete;
  AsAnotherUser& operator=(const AsAnotherUser&) = delete;

 private:
  uid_t user_;
};

TEST_F(ArchiveTest, an_archive_in_a_write_protected_directory_can_be_read_and_refuses_writes) {
  ASSERT_TRUE(open()->begin_run(run_named("a", "2026-01-01T00:00:00Z")));
  ASSERT_EQ(::chmod(directory_.c_str(), 0555), 0);
  ASSERT_EQ(::chmod(file_.c_str(), 0444), 0);
  {
    const AsAnotherUser nobody;
    const auto archive = open({.read_only = true});
    ASSERT_NE(archive, nullptr);
    EXPECT_EQ(archive->run("a")->id, "a");
    const auto refused = open_archive(file_);
    ASSERT_FALSE(refused);
    expect_error(refused.error(), errc::archive_open,
                 fmt::format("cannot open the archive {}: attempt to write a readonly database", file_.string()));
  }
  ASSERT_EQ(::chmod(directory_.c_str(), 0755), 0);
}

TEST_F(ArchiveTest, seeds_come_from_ended_runs_nearest_first_and_once) {
  const auto archive = open();
  const auto add = [&](const char* id, const char* problem, const char* device, RunStatus status, std::int64_t bm) {
    SyntheticRun synthetic = synthetic_run(6, 4);
    synthetic.run.id = id;
    synthetic.run.started_utc = std::string("2026-01-01T00:00:0") + id + "Z";
    synthetic.run.problem = problem;
    synthetic.run.device.name = device;
    synthetic.run.status = status;
    ASSERT_TRUE(archive->begin_run(synthetic.run));
    for (auto& attempt : synthetic.attempts) {
      attempt.candidate.tunables["BM"] = bm;
      ASSERT_TRUE(archive->append(id, attempt));
    }
  };
  add("1", "attention/full", "cpu x", RunStatus::finished, 2);
  add("2", "attention/alibi", "cpu y", RunStatus::exhausted, 4);
  add("3", "attention/alibi", "cpu x", RunStatus::interrupted, 6);
  add("4", "attention/full", "cpu y", RunStatus::finished, 8);
  add("5", "attention/full", "cpu y", RunStatus::finished, 8);   // the same candidate as run 4
  add("6", "attention/alibi", "cpu x", RunStatus::running, 10);  // may be going on right now
  const auto ids = [](const std::vector<ArchivedBest>& bests) {
    std::string text;
    for (const auto& best : bests) text += best.run_id;
    return text;
  };
  EXPECT_EQ(ids(archive->bests("attention", "opencl", 10, {"attention/alibi", "cpu x"}).value()), "3215");
  EXPECT_EQ(ids(archive->bests("attention", "opencl", 2, {"attention/alibi", "cpu x"}).value()), "32");
  EXPECT_EQ(ids(archive->bests("attention", "opencl", 10).value()), "5321");
  EXPECT_EQ(ids(archive->bests("attention", "cuda", 10).value()), "");
  const auto best = archive->bests("attention", "opencl", 1, {"attention/alibi", "cpu x"}).value().at(0);
  EXPECT_EQ(best.candidate.tunables.at("BM"), 6);
  EXPECT_EQ(best.device_name, "cpu x");
  EXPECT_GT(best.median_ns, 0);
}

}  // namespace
}  // namespace kw

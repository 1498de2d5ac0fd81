// Runs over an archive that is damaged, and a run that two processes want to go on with.

#include <gmock/gmock.h>

#include "archive/check.hpp"
#include "archive/sqlite.hpp"
#include "loop/testing/run_fixture.hpp"

namespace kw {
namespace {

using ::testing::HasSubstr;

class RunArchiveTest : public RunTest {
 protected:
  /// One byte of what the run says of itself, or of its first attempt.
  void damage(const std::string& id, const std::string& table) const {
    auto file = sqlite::Database::open(RunDirectory::archive(setup.root), sqlite::OpenMode::create);
    ASSERT_TRUE(file) << file.error().to_string();
    const std::string row = table == "runs" ? "id = '" + id + "'" : "ordinal = 0 AND run_id = '" + id + "'";
    const auto changed =
        file->execute(fmt::format("UPDATE {} SET record = replace(record, 'a', 'b') WHERE {}", table, row));
    ASSERT_TRUE(changed) << changed.error().to_string();
  }
  RunRecord run_at(const std::string& started) {
    setup.started_utc = started;
    auto record = run();
    EXPECT_TRUE(record) << record.error().to_string();
    return record.value_or(RunRecord{});
  }
};

TEST_F(RunArchiveTest, damaged_runs_are_passed_over_with_one_warning) {
  setup.limits = parse_budget("3c").value();
  const auto oldest = run_at("2026-01-01T00:00:00Z");
  const auto middle = run_at("2026-01-02T00:00:00Z");
  const auto newest = run_at("2026-01-03T00:00:00Z");
  EXPECT_TRUE(observer.warnings.empty());
  damage(middle.id, "runs");
  damage(newest.id, "attempts");
  const auto fresh = run_at("2026-01-04T00:00:00Z");
  EXPECT_FALSE(fresh.archive_seeds.empty()) << "the whole run still gives its best";
  ASSERT_EQ(observer.warnings.size(), 1U);
  EXPECT_THAT(observer.warnings[0], HasSubstr(middle.id + ", " + newest.id));
  EXPECT_THAT(observer.warnings[0], HasSubstr("kernelwright archive repair --out"));

  damage(fresh.id, "attempts");
  observer.warnings.clear();
  setup.resume = true;
  setup.limits = parse_budget("4c").value();
  const auto resumed = run_at("2026-01-05T00:00:00Z");
  EXPECT_EQ(resumed.id, oldest.id) << "the newest whole one";
  EXPECT_EQ(observer.warnings.size(), 1U);
  damage(oldest.id, "runs");
  observer.warnings.clear();
  const auto none = run();
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, errc::resume_nothing);
  EXPECT_EQ(observer.warnings.size(), 1U) << "or nobody knows why there is nothing";
}

TEST_F(RunArchiveTest, runs_of_a_calendar_that_jumps_by_years_are_whole_and_seed_each_other) {
  setup.limits = parse_budget("3c,1h").value();
  const auto first = run_at("2026-01-01T00:00:00Z");
  for (const char* const jumped : {"2106-02-07T06:28:15Z", "1970-01-01T00:00:00Z", "10000-01-01T00:00:00Z"}) {
    const auto run = run_at(jumped);
    EXPECT_EQ(run.status, RunStatus::finished) << jumped;
    EXPECT_EQ(run.used.candidates, 3) << jumped;
    EXPECT_LT(run.used.wall_seconds, 3600) << jumped;
    EXPECT_FALSE(run.archive_seeds.empty()) << jumped;
    EXPECT_EQ(open()->run(run.id)->started_utc, jumped);
  }
  const auto state = check_archive(RunDirectory::archive(setup.root));
  ASSERT_TRUE(state) << state.error().to_string();
  EXPECT_EQ(state->whole.size(), 4U);
  EXPECT_THAT(state->whole, ::testing::Contains(first.id));
}

TEST_F(RunArchiveTest, a_run_that_goes_on_elsewhere_is_not_resumed) {
  std::optional<Result<RunRecord>> second;
  QuietObserver watching_second;
  observer.on_attempt = [&](const Attempt& attempt) {
    if (attempt.ordinal != 1) return;
    RunSetup again = setup;
    again.resume = true;
    FakeBackend backend(setup.problem, clock, model);
    RealFileSystem files;
    const auto archive = open();
    RunServices services{backend, *archive, files, clock, watching_second, stop, serial_for};
    second = run_loop(again, services);
  };
  setup.limits = parse_budget("5c").value();
  const auto first = run();
  ASSERT_TRUE(first) << first.error().to_string();
  ASSERT_TRUE(second && !*second);
  EXPECT_EQ(second->error().code, errc::run_in_progress);
  EXPECT_EQ(second->error().code.exit_class, ExitClass::usage);
  EXPECT_EQ(second->error().message, fmt::format("run {} is going on in another process", first->id));
  EXPECT_EQ(watching_second.attempts, 0);
  EXPECT_EQ(open()->attempts(first->id)->size(), 5U);
  EXPECT_EQ(open()->run(first->id)->status, RunStatus::finished);

  observer.on_attempt = nullptr;
  setup.resume = true;
  setup.limits = parse_budget("6c").value();
  const auto later = run();
  ASSERT_TRUE(later) << "the lock ends with the run that held it: " << later.error().to_string();
  EXPECT_EQ(later->id, first->id);
}

}  // namespace
}  // namespace kw

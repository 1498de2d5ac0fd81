#include "suite/suite_loop.hpp"

#include <gmock/gmock.h>

#include "loop/threads.hpp"
#include "suite/testing/suite_fixture.hpp"
#include "verify/checking/check_suite.hpp"

namespace kw {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

std::vector<SuiteStatus> statuses(const SuiteState& state) {
  std::vector<SuiteStatus> all;
  for (const auto& row : state.rows) all.push_back(row.status);
  return all;
}

constexpr auto k_solved = SuiteStatus::solved;

TEST_F(SuiteTest, solves_every_problem_and_keeps_its_figures) {
  FakeSuiteDevice device("fake:0", directory.root(), stop);
  const auto done = run(state, device);
  ASSERT_TRUE(done) << done.error().to_string();
  EXPECT_THAT(statuses(*done), ElementsAre(k_solved, k_solved, k_solved));
  for (const auto& row : done->rows) {
    EXPECT_GT(row.first_correct_seconds.value(), 0);
    EXPECT_GT(row.speedup.value(), 1);
    EXPECT_EQ(row.used.candidates, 4);
    EXPECT_TRUE(std::filesystem::exists(row.best_path)) << row.best_path;
    EXPECT_TRUE(std::filesystem::exists(RunDirectory(directory.root(), row.run_id).report_html()));
  }
  EXPECT_THAT(observer.ended_names, ElementsAre("one", "two", "three"));
  EXPECT_EQ(observer.attempts, 12);
  auto stored = decode_suite(files.states.back(), "suite.json").value();
  stored.elapsed_seconds = done->elapsed_seconds;
  EXPECT_EQ(encode_suite(stored), encode_suite(*done));
}

TEST_F(SuiteTest, a_problem_that_cannot_be_read_or_scored_is_a_row) {
  unreadable = {"one"};
  FakeSuiteDevice device("fake:0", directory.root(), stop);
  device.before_run = [](const RunSetup& setup) -> Result<void> {
    if (setup.problem.name != "test/two") return {};
    return fail(errc::unscorable, "all zeros as O passes every check");
  };
  const auto done = run(state, device);
  ASSERT_TRUE(done) << done.error().to_string();
  EXPECT_THAT(statuses(*done), ElementsAre(SuiteStatus::failed, SuiteStatus::unscorable, k_solved));
  EXPECT_EQ(done->rows[0].message, "line 3: this is no module");
  EXPECT_EQ(done->rows[0].error_code, "program.syntax");
  EXPECT_EQ(done->rows[1].message, "all zeros as O passes every check");
  EXPECT_TRUE(done->rows[1].as_kernelbench->correct());
  EXPECT_FALSE(done->rows[0].as_kernelbench);
}

TEST_F(SuiteTest, a_problem_without_a_right_kernel_is_unsolved) {
  FakeSuiteDevice device("fake:0", directory.root(), stop);
  device.model = [](const BuildRequest& request) {
    FakeKernel kernel = landscape(request);
    if (is_fused(request)) kernel.behaviour = FakeBehaviour::writes_zeros;
    return kernel;
  };
  const auto done = run(state, device);
  ASSERT_TRUE(done) << done.error().to_string();
  EXPECT_EQ(done->rows[0].status, SuiteStatus::unsolved);
  EXPECT_THAT(done->rows[0].message, HasSubstr("none of 4 kernels passed; the first: "));
  EXPECT_FALSE(done->rows[0].first_correct_seconds);
  EXPECT_GT(done->rows[0].plain_ns.value(), 0) << "it was timed all the same";
}

TEST_F(SuiteTest, divides_one_budget_and_stops_where_it_ends) {
  state.settings.budget_per_problem = "";
  state.settings.budget = "9c";
  FakeSuiteDevice device("fake:0", directory.root(), stop);
  const auto done = run(state, device);
  ASSERT_TRUE(done) << done.error().to_string();
  for (const auto& row : done->rows) EXPECT_EQ(row.used.candidates, 3);
  state.settings.budget = "1c";
  FakeSuiteDevice other("fake:0", directory.root(), stop);
  const auto little = run(state, other);
  ASSERT_TRUE(little) << little.error().to_string();
  EXPECT_THAT(statuses(*little), ElementsAre(k_solved, SuiteStatus::waiting, SuiteStatus::waiting));
}

TEST_F(SuiteTest, stops_cleanly_and_goes_on_where_it_was) {
  FakeSuiteDevice device("fake:0", directory.root(), stop);
  observer.on_attempt = [&](const SuiteRow& row) { stop = row.item.name == "two"; };
  const auto stopped = run(state, device);
  ASSERT_TRUE(stopped) << stopped.error().to_string();
  EXPECT_THAT(statuses(*stopped), ElementsAre(k_solved, SuiteStatus::interrupted, SuiteStatus::waiting));
  stop = false;
  observer.on_attempt = nullptr;
  const auto done = run(*stopped, device);
  ASSERT_TRUE(done) << done.error().to_string();
  EXPECT_THAT(statuses(*done), ElementsAre(k_solved, k_solved, k_solved));
  EXPECT_EQ(done->rows[1].run_id, stopped->rows[1].run_id) << "the same run went on";
  EXPECT_EQ(done->rows[1].used.candidates, 4);
  EXPECT_EQ(device.archive().runs().value().size(), 3U);
}

/// Whatever of the state a kill leaves on disk, nothing that was over is lost and everything ends solved.
TEST_F(SuiteTest, goes_on_from_every_state_that_a_kill_may_leave) {
  FakeSuiteDevice device("fake:0", directory.root(), stop);
  ASSERT_TRUE(run(state, device));
  const auto texts = files.states;
  EXPECT_GE(texts.size(), 6U);
  for (const auto& text : texts) {
    const auto left = decode_suite(text, "suite.json");
    ASSERT_TRUE(left) << left.error().to_string();
    observer.begun_names.clear();
    FakeSuiteDevice next("fake:0", directory.root(), stop);
    const auto done = run(*left, next);
    ASSERT_TRUE(done) << done.error().to_string() << text;
    EXPECT_THAT(statuses(*done), ElementsAre(k_solved, k_solved, k_solved)) << text;
    if (std::ranges::find(left->rows, SuiteStatus::running, &SuiteRow::status) != left->rows.end()) {
      EXPECT_TRUE(next.setups.front().resume) << "the run that was at work goes on\n" << text;
    }
    for (std::size_t i = 0; i < left->rows.size(); ++i) {
      if (!is_over(left->rows[i].status)) continue;
      EXPECT_THAT(observer.begun_names, testing::Not(testing::Contains(left->rows[i].item.name)));
      EXPECT_EQ(done->rows[i].run_id, left->rows[i].run_id);
    }
  }
}

TEST_F(SuiteTest, begins_a_run_again_that_never_came_into_the_archive) {
  state.rows[0].status = SuiteStatus::running;
  state.rows[0].file_hash = hash_bytes("one").hex();
  FakeSuiteDevice device("fake:0", directory.root(), stop);
  const auto done = run(state, device);
  ASSERT_TRUE(done) << done.error().to_string();
  EXPECT_EQ(done->rows[0].status, k_solved);
  ASSERT_GE(device.setups.size(), 2U);
  EXPECT_TRUE(device.setups[0].resume);
  EXPECT_FALSE(device.setups[1].resume);
}

TEST_F(SuiteTest, a_file_with_another_text_is_another_problem) {
  FakeSuiteDevice device("fake:0", directory.root(), stop);
  const auto first = run(state, device);
  ASSERT_TRUE(first) << first.error().to_string();
  write(state.rows[1].item.input, "changed");
  observer.begun_names.clear();
  const auto again = run(*first, device);
  ASSERT_TRUE(again) << again.error().to_string();
  EXPECT_THAT(observer.begun_names, ElementsAre("two"));
  EXPECT_NE(again->rows[1].run_id, first->rows[1].run_id);
}

TEST_F(SuiteTest, several_devices_share_the_problems) {
  for (int i = 0; i < 5; ++i) add(fmt::format("more{}", i));
  FakeSuiteDevice first("fake:0", directory.root(), stop);
  FakeSuiteDevice second("fake:1", directory.root(), stop);
  const auto done = run(state, {&first, &second}, parallel_for(2));
  ASSERT_TRUE(done) << done.error().to_string();
  EXPECT_THAT(statuses(*done), testing::Each(k_solved));
  EXPECT_EQ(first.setups.size() + second.setups.size(), 8U) << "each ran once";
  EXPECT_THAT(observer.begun_names,
              UnorderedElementsAre("one", "two", "three", "more0", "more1", "more2", "more3", "more4"));
}

TEST_F(SuiteTest, a_full_disk_ends_it) {
  FakeSuiteDevice device("fake:0", directory.root(), stop);
  observer.on_attempt = [&](const SuiteRow&) { files.full = true; };
  const auto failed = run(state, device);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, errc::disk_full);
  EXPECT_THAT(observer.begun_names, ElementsAre("one")) << "nothing else can be kept";
  files.full = false;
  observer.on_attempt = nullptr;
  const auto done = run(decode_suite(files.states.back(), "suite.json").value(), device);
  ASSERT_TRUE(done) << done.error().to_string();
  EXPECT_THAT(statuses(*done), ElementsAre(k_solved, k_solved, k_solved));
}

}  // namespace
}  // namespace kw

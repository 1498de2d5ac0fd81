// Runs that go on: after a stop, with a retuning, with what an older archive lacks.

#include "archive/sqlite.hpp"
#include "codegen/codegen.hpp"
#include "loop/run.hpp"
#include "loop/run_problem.hpp"
#include "loop/testing/run_fixture.hpp"
#include "propose/search/bundle_tuner.hpp"
#include "verify/verifier.hpp"

namespace kw {
namespace {

TEST_F(RunTest, a_resumed_run_adds_to_what_its_parts_spent) {
  setup.limits = parse_budget("4c").value();
  const auto first = run();
  ASSERT_TRUE(first) << first.error().to_string();
  setup.resume = true;
  setup.limits = parse_budget("8c").value();
  const auto second = run();
  ASSERT_TRUE(second) << second.error().to_string();
  const auto launched = [](const RunRecord& record) {
    const auto found = std::ranges::find_if(
        record.time_uses, [](const TimeUse& use) { return use.stage == "check" && use.activity == "launches"; });
    return found == record.time_uses.end() ? 0.0 : found->seconds;
  };
  EXPECT_GT(launched(*second), launched(*first));
}

TEST_F(RunTest, stops_cleanly_when_asked_and_can_be_resumed) {
  observer.on_attempt = [this](const Attempt& attempt) { stop = attempt.ordinal == 4; };
  const auto part = run();
  ASSERT_TRUE(part);
  EXPECT_EQ(part->status, RunStatus::interrupted);
  EXPECT_EQ(part->used.candidates, 5);
  observer.on_attempt = nullptr;
  stop = false;
  setup.resume = true;
  const auto whole = run();
  ASSERT_TRUE(whole) << whole.error().to_string();
  EXPECT_EQ(whole->id, part->id);
  EXPECT_EQ(whole->status, RunStatus::finished);
  EXPECT_EQ(whole->used.candidates, 12);
  const auto ids = candidates_of(whole->id);
  EXPECT_EQ(ids.size(), 12U);
  EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(), 12U);
}

TEST_F(RunTest, a_resumed_run_goes_on_as_if_it_had_not_stopped) {
  // Noise is off, so that both runs see the same times and must propose the same candidates.
  model = [](const BuildRequest& request) {
    FakeKernel kernel = landscape(request);
    kernel.relative_noise = 0;
    return kernel;
  };
  const auto straight = run();
  const auto expected = candidates_of(straight->id);
  std::filesystem::remove_all(setup.root);
  std::filesystem::create_directories(setup.root);
  observer.on_attempt = [this](const Attempt& attempt) { stop = attempt.ordinal == 5; };
  ASSERT_TRUE(run());
  stop = false;
  observer.on_attempt = nullptr;
  setup.resume = true;
  const auto resumed = run();
  ASSERT_TRUE(resumed) << resumed.error().to_string();
  EXPECT_EQ(candidates_of(resumed->id), expected);
}

TEST_F(RunTest, proposes_ahead_of_what_it_has_seen_and_is_found_again_by_replay) {
  model = [](const BuildRequest& request) {
    FakeKernel kernel = landscape(request);
    kernel.relative_noise = 0;
    return kernel;
  };
  for (const int in_flight : {1, 2, 3}) {
    SCOPED_TRACE(in_flight);
    std::filesystem::remove_all(setup.root);
    std::filesystem::create_directories(setup.root);
    setup.in_flight = in_flight;
    setup.resume = false;
    const auto straight = run();
    ASSERT_TRUE(straight) << straight.error().to_string();
    EXPECT_EQ(straight->candidates_in_flight.value_or(1), in_flight);
    EXPECT_EQ(straight->used.candidates, 12);
    const auto expected = candidates_of(straight->id);
    for (const std::int64_t last : {0, 5, 10}) {
      SCOPED_TRACE(last);
      std::filesystem::remove_all(setup.root);
      std::filesystem::create_directories(setup.root);
      setup.resume = false;
      observer.on_attempt = [&](const Attempt& attempt) { stop = attempt.ordinal == last; };
      const auto part = run();
      ASSERT_TRUE(part) << part.error().to_string();
      EXPECT_EQ(part->used.candidates, last + 1) << "what was in flight is not counted";
      stop = false;
      observer.on_attempt = nullptr;
      setup.resume = true;
      setup.in_flight = 1;  // it goes on as it began
      const auto resumed = run();
      setup.in_flight = in_flight;
      ASSERT_TRUE(resumed) << resumed.error().to_string();
      EXPECT_EQ(candidates_of(resumed->id), expected);
    }
  }
}

/// The vector style's bundle, to be retuned.
Candidate emitted(const Problem& problem) {
  return make_candidate(emit_bundle(problem, "opencl", "vector", host_cpu_facts()).value()).value();
}

TEST_F(RunTest, retuning_searches_the_tunables_of_one_bundle_and_keeps_its_rows) {
  setup.proposer = k_retune;
  setup.start = emitted(setup.problem);
  setup.start->bundle.dispatch = {{"another device", {}, {{"UNROLL_D", 2}}}};
  setup.start = make_candidate(setup.start->bundle).value();
  const auto record = run();
  ASSERT_TRUE(record) << record.error().to_string();
  EXPECT_EQ(record->proposer, k_retune);
  ASSERT_TRUE(record->best_ordinal.has_value());
  std::set<Hash> seen;
  const auto attempts = open()->attempts(record->id).value();
  for (const auto& attempt : attempts) {
    EXPECT_EQ(attempt.candidate.bundle, setup.start->bundle);
    EXPECT_EQ(attempt.candidate.tunables.size(), setup.start->bundle.tunables.size()) << "all are assigned";
    EXPECT_TRUE(seen.insert(attempt.candidate.id()).second);
  }
  EXPECT_EQ(seen.size(), 12U);
  for (const auto& tunable : setup.start->bundle.tunables)
    EXPECT_EQ(attempts.front().candidate.tunables.at(tunable.name), tunable.default_value) << tunable.name;
}

TEST_F(RunTest, a_resumed_retuning_goes_on_though_a_row_was_written_since) {
  setup.proposer = k_retune;
  setup.start = emitted(setup.problem);
  setup.limits = parse_budget("6c").value();
  const auto begun = run();
  ASSERT_TRUE(begun) << begun.error().to_string();
  const auto first = candidates_of(begun->id);
  Bundle changed = setup.start->bundle;
  changed.dispatch = {{"any device", {}, {{"UNROLL_D", 4}}}};
  setup.start = make_candidate(changed).value();
  setup.limits = parse_budget("9c").value();
  setup.resume = true;
  const auto resumed = run();
  ASSERT_TRUE(resumed) << resumed.error().to_string();
  EXPECT_EQ(resumed->id, begun->id);
  auto all = candidates_of(resumed->id);
  ASSERT_EQ(all.size(), 9U);
  all.resize(first.size());
  EXPECT_EQ(all, first);
  changed.source += "// changed\n";
  setup.start = make_candidate(changed).value();
  const auto other = run();
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().to_string(), fmt::format("run {} tunes another source [run.resume_mismatch]\n  try: give the "
                                                   "bundle it began with, or leave out --resume",
                                                   begun->id));
}

TEST_F(RunTest, a_resumed_search_does_not_go_on_with_a_retuning) {
  setup.limits = parse_budget("2c").value();
  const auto search = run();
  ASSERT_TRUE(search) << search.error().to_string();
  setup.start = emitted(setup.problem);
  setup.proposer = k_retune;
  setup.started_utc = "2026-01-02T00:00:00Z";
  ASSERT_TRUE(run());
  setup.start.reset();
  setup.proposer = "search";
  setup.resume = true;
  const auto resumed = run();
  ASSERT_TRUE(resumed) << resumed.error().to_string();
  EXPECT_EQ(resumed->id, search->id);
}

TEST_F(RunTest, a_resumed_run_keeps_its_own_style_and_refuses_another) {
  setup.style = "plain";
  setup.limits = parse_budget("1c").value();
  const auto begun = run();
  ASSERT_TRUE(begun) << begun.error().to_string();
  EXPECT_EQ(begun->style, "plain");
  setup.resume = true;
  setup.limits = parse_budget("2c").value();
  setup.style = "vector";
  const auto refused = run();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().to_string(),
            fmt::format("run {} was made with --style plain, not vector [run.resume_mismatch]\n"
                        "  try: resume it with the style it began with",
                        begun->id));
  setup.style.clear();
  const auto resumed = run();
  ASSERT_TRUE(resumed) << resumed.error().to_string();
  EXPECT_EQ(resumed->id, begun->id);
  EXPECT_EQ(resumed->style, "plain");
}

/// What a program of version 2 would have left behind of the runs in this archive.
void make_version_2(const std::filesystem::path& root) {
  auto file = sqlite::Database::open(RunDirectory::archive(root), sqlite::OpenMode::create);
  ASSERT_TRUE(file) << file.error().to_string();
  const auto made = file->execute(
      "UPDATE runs SET record = json_remove(record, '$.style');"
      "UPDATE attempts SET record = json_remove(record, '$.accuracy');"
      "ALTER TABLE runs DROP COLUMN style; ALTER TABLE runs DROP COLUMN problem_source; DROP TABLE problems;"
      "ALTER TABLE runs DROP COLUMN checksum; ALTER TABLE attempts DROP COLUMN checksum;"
      "ALTER TABLE turns DROP COLUMN checksum;"
      "PRAGMA user_version = 2;");
  ASSERT_TRUE(made) << made.error().to_string();
}

TEST_F(RunTest, a_run_of_an_archive_of_version_2_goes_on_and_then_keeps_what_it_lacked) {
  setup.limits = parse_budget("3c").value();
  const auto begun = run();
  ASSERT_TRUE(begun) << begun.error().to_string();
  make_version_2(setup.root);
  const auto tried = candidates_of(begun->id);
  EXPECT_FALSE(open()->run(begun->id)->style.has_value());
  setup.resume = true;
  setup.style = "plain";
  setup.limits = parse_budget("5c").value();
  const auto wrong = run();
  ASSERT_FALSE(wrong) << "nothing says which style it had, but another one proposes other kernels";
  EXPECT_EQ(wrong.error().code, errc::resume_mismatch);
  EXPECT_FALSE(open()->run(begun->id)->style.has_value());
  setup.style.clear();
  const auto resumed = run();
  ASSERT_TRUE(resumed) << resumed.error().to_string();
  EXPECT_EQ(resumed->id, begun->id);
  EXPECT_EQ(resumed->style, "vector");
  EXPECT_TRUE(problem_of(*resumed).has_value());
  auto all = candidates_of(begun->id);
  EXPECT_EQ(all.size(), 5U);
  all.resize(tried.size());
  EXPECT_EQ(all, tried);
  const auto attempts = open()->attempts(begun->id).value();
  EXPECT_FALSE(attempts.front().accuracy.has_value());
  EXPECT_TRUE(attempts.back().accuracy.has_value());
}

TEST_F(RunTest, resume_without_a_run_says_what_to_do) {
  setup.resume = true;
  const auto record = run();
  ASSERT_FALSE(record);
  EXPECT_EQ(record.error().code, errc::resume_nothing);
  EXPECT_NE(record.error().message.find("there is no run of test/causal on fake"), std::string::npos);
}

}  // namespace
}  // namespace kw

#include "loop/run.hpp"

#include "archive/sqlite.hpp"
#include "codegen/codegen.hpp"
#include "loop/run_problem.hpp"
#include "loop/testing/run_fixture.hpp"
#include "propose/search/bundle_tuner.hpp"
#include "propose/search/search_space.hpp"
#include "verify/verifier.hpp"

namespace kw {
namespace {

TEST_F(RunTest, ends_with_its_budget_and_leaves_kernel_report_and_archive) {
  setup.problem_input = "small.toml --set Sq=20";
  const auto record = run();
  ASSERT_TRUE(record) << record.error().to_string();
  EXPECT_EQ(record->problem_input, setup.problem_input);
  EXPECT_FALSE(record->cases_left_out.has_value()) << "a device is fast enough";
  EXPECT_EQ(record->status, RunStatus::finished);
  EXPECT_EQ(record->used.candidates, 12);
  ASSERT_TRUE(record->best_ordinal.has_value());
  ASSERT_TRUE(record->best_final.has_value());
  EXPECT_EQ(record->best_final->versus.at(0).name, "plain");
  const RunDirectory directory(setup.root, record->id);
  for (const auto& path : {directory.best_bundle("opencl"), directory.report_html(), directory.report_markdown(),
                           directory.report_json()}) {
    EXPECT_TRUE(std::filesystem::exists(path)) << path;
  }
  RealFileSystem files;
  const auto text = files.read(directory.best_bundle("opencl"), 1 << 20).value();
  const auto best = make_candidate(parse_bundle(text, "best").value()).value();
  const auto attempts = open()->attempts(record->id).value();
  EXPECT_EQ(best.tunables, attempts.at(static_cast<std::size_t>(*record->best_ordinal)).candidate.tunables);
}

TEST_F(RunTest, takes_the_peaks_that_were_measured_before) {
  const auto archive = open();
  RealFileSystem files;
  FakeBackend backend(setup.problem, clock, model);
  RunServices services{backend, *archive, files, clock, observer, stop, serial_for};
  setup.calibrated = backend.device();
  setup.calibrated->peak_bytes = 7.5e11;
  const auto record = run_loop(setup, services);
  ASSERT_TRUE(record) << record.error().to_string();
  EXPECT_EQ(record->device.peak_bytes, 7.5e11);
  setup.calibrated->id = "another:0";
  const auto measured = run_loop(setup, services);
  ASSERT_TRUE(measured) << measured.error().to_string();
  EXPECT_NE(measured->device.peak_bytes, 7.5e11) << "of another device";
}

TEST_F(RunTest, says_where_its_wall_clock_went) {
  const auto record = run();
  ASSERT_TRUE(record) << record.error().to_string();
  double sum = 0;
  std::set<std::pair<std::string, std::string>> places;
  for (const auto& use : record->time_uses) {
    sum += use.seconds;
    places.emplace(use.stage, use.activity);
  }
  EXPECT_GT(sum, 0);
  EXPECT_NEAR(sum, record->used.wall_seconds, 1e-6) << "nothing twice, and nothing left out";
  for (const char* stage : {"opening", "check", "time", "final"})
    EXPECT_TRUE(places.contains({stage, "launches"})) << stage;
}

TEST_F(RunTest, counts_what_came_before_it_as_a_part_of_its_opening_and_its_budget) {
  setup.limits = parse_budget("20s").value();
  FakeBackend backend(setup.problem, clock, model);
  const auto archive = open();
  RealFileSystem files;
  RunServices services{backend, *archive, files, clock, observer, stop, serial_for};
  services.began = clock.now();
  clock.advance(std::chrono::seconds(3));
  const auto record = run_loop(setup, services);
  ASSERT_TRUE(record) << record.error().to_string();
  EXPECT_LE(to_seconds(clock.now() - *services.began), 20.0);
  EXPECT_NEAR(record->used.wall_seconds, to_seconds(clock.now() - *services.began), 1e-6);
  const auto device = std::ranges::find(record->time_uses, "device", &TimeUse::activity);
  ASSERT_NE(device, record->time_uses.end());
  EXPECT_EQ(device->stage, "opening");
  EXPECT_NEAR(device->seconds, 3.0, 1e-6);
}

TEST_F(RunTest, says_once_that_the_machine_is_busy) {
  const auto archive = open();
  RealFileSystem files;
  FakeBackend backend(setup.problem, clock, model);
  RunServices services{backend, *archive, files, clock, observer, stop, serial_for};
  services.interference = [] { return std::optional(0.4); };
  const auto record = run_loop(setup, services);
  ASSERT_TRUE(record) << record.error().to_string();
  const std::string text = "something waited for a processor in 40 % of the last 10 s";
  EXPECT_EQ(observer.warnings, std::vector<std::string>{"the machine is busy, " + text + ": times will scatter"});
  EXPECT_EQ(record->environment.back(), std::make_pair(std::string("interference"), text));
  services.interference = [] { return std::optional(0.1); };
  ASSERT_TRUE(run_loop(setup, services));
  EXPECT_EQ(observer.warnings.size(), 1U) << "a quiet machine is recorded, and no news";
}

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

TEST_F(RunTest, on_a_simulator_times_nothing_and_ranks_by_the_static_estimate) {
  const auto archive = open();
  RealFileSystem files;
  FakeBackend backend(setup.problem, clock, model);
  backend.mutable_device().kind = DeviceKind::simulator;
  RunServices services{backend, *archive, files, clock, observer, stop, serial_for};
  const auto record = run_loop(setup, services);
  ASSERT_TRUE(record) << record.error().to_string();
  EXPECT_TRUE(record->baselines.empty());
  EXPECT_FALSE(record->best_final.has_value());
  ASSERT_TRUE(record->best_ordinal.has_value());
  EXPECT_TRUE(std::filesystem::exists(RunDirectory(setup.root, record->id).best_bundle("opencl")));
  const auto attempts = archive->attempts(record->id).value();
  const Style& style = **find_style("attention", "opencl", "vector");
  auto space = SearchSpace::open(style, setup.problem, backend.device()).value();
  const auto estimate = [&](const Attempt& attempt) { return space.estimate(*space.point_of(attempt.candidate)); };
  const double best = estimate(attempts.at(static_cast<std::size_t>(*record->best_ordinal)));
  int accepted = 0;
  for (const auto& attempt : attempts) {
    EXPECT_FALSE(attempt.measurement.has_value());
    if (!attempt.verdict.accepted()) continue;
    ++accepted;
    EXPECT_LE(best, estimate(attempt)) << "candidate " << attempt.ordinal;
  }
  EXPECT_GT(accepted, 1);
  // And the same search is found again by replay.
  setup.resume = true;
  setup.limits = parse_budget("14c").value();
  const auto resumed = run_loop(setup, services);
  ASSERT_TRUE(resumed) << resumed.error().to_string();
  EXPECT_GE(resumed->used.candidates, 14);
}

TEST_F(RunTest, on_a_simulator_ends_with_its_wall_budget_and_leaves_the_last_candidate_undecided) {
  setup.limits = parse_budget("60s").value();
  model = [](const BuildRequest& request) {
    FakeKernel kernel = landscape(request);
    kernel.time_ns = is_fused(request) ? 1e9 : 1e8;
    return kernel;
  };
  const auto archive = open();
  RealFileSystem files;
  FakeBackend backend(setup.problem, clock, model);
  backend.mutable_device().kind = DeviceKind::simulator;
  RunServices services{backend, *archive, files, clock, observer, stop, serial_for};
  const auto record = run_loop(setup, services);
  ASSERT_TRUE(record) << record.error().to_string();
  EXPECT_EQ(record->status, RunStatus::finished);
  EXPECT_LT(record->used.wall_seconds, 60.5);
  EXPECT_GT(record->used.wall_seconds, 57.0);
  EXPECT_TRUE(record->best_ordinal.has_value());
  const auto attempts = archive->attempts(record->id).value();
  ASSERT_GE(attempts.size(), 3U);
  EXPECT_EQ(attempts.back().verdict.status, VerdictStatus::unverified);
  EXPECT_EQ(attempts.back().verdict.failed_gate, GateId::check);
  EXPECT_FALSE(attempts.back().became_best);
  for (std::size_t i = 0; i + 1 < attempts.size(); ++i) EXPECT_TRUE(attempts[i].verdict.accepted()) << i;
}

TEST_F(RunTest, on_a_simulator_says_that_the_budget_was_too_short_for_the_opening) {
  setup.limits = parse_budget("2s").value();
  model = [](const BuildRequest&) {
    FakeKernel kernel;
    kernel.time_ns = 1e9;
    return kernel;
  };
  const auto archive = open();
  RealFileSystem files;
  FakeBackend backend(setup.problem, clock, model);
  backend.mutable_device().kind = DeviceKind::simulator;
  RunServices services{backend, *archive, files, clock, observer, stop, serial_for};
  const auto record = run_loop(setup, services);
  ASSERT_FALSE(record);
  EXPECT_EQ(record.error().code, errc::out_of_time);
}

TEST_F(RunTest, that_requires_a_sanitizer_where_there_is_none_does_not_begin) {
  setup.requirements = parse_requirements("sanitized").value();
  const auto record = run();
  ASSERT_FALSE(record);
  EXPECT_EQ(record.error().code, errc::requirement_unchecked);
  EXPECT_EQ(record.error().message, "'sanitized' cannot be checked: this machine has no sanitizer for opencl");
  EXPECT_EQ(record.error().hint, "install one, as `kernelwright doctor` says, or leave the requirement out");
  EXPECT_TRUE(open()->runs().value().empty()) << "no record of a run that never was";
}

TEST_F(RunTest, records_the_peaks_by_which_candidates_were_judged) {
  const auto archive = open();
  RealFileSystem files;
  FakeBackend backend(setup.problem, clock, [&backend](const BuildRequest& request) {
    // The first look at the peaks was disturbed: once candidates come, the device is as fast as it is.
    if (is_fused(request)) backend.mutable_device().peak_bytes = 1e11;
    return landscape(request);
  });
  backend.mutable_device().peak_f32_flops = 1e12;
  backend.mutable_device().peak_bytes = 1e5;
  RunServices world{backend, *archive, files, clock, observer, stop, serial_for};
  const auto record = run_loop(setup, world);
  ASSERT_TRUE(record) << record.error().to_string();
  ASSERT_TRUE(record->best_ordinal.has_value());
  EXPECT_EQ(record->device.peak_bytes, 1e11);
  EXPECT_EQ(archive->run(record->id)->device.peak_bytes, 1e11);
}

TEST_F(RunTest, never_runs_a_candidate_twice) {
  const auto record = run();
  ASSERT_TRUE(record);
  const auto ids = candidates_of(record->id);
  EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(), ids.size());
}

TEST_F(RunTest, is_deterministic_for_its_seed) {
  const auto one = run();
  const auto archive_of_one = candidates_of(one->id);
  std::filesystem::remove_all(setup.root);
  std::filesystem::create_directories(setup.root);
  const auto two = run();
  EXPECT_EQ(archive_of_one, candidates_of(two->id));
}

TEST_F(RunTest, wall_clock_budget_keeps_time_for_the_final_measurement) {
  setup.limits = parse_budget("20s").value();
  const auto record = run();
  ASSERT_TRUE(record) << record.error().to_string();
  EXPECT_LE(record->used.wall_seconds, 20.0);
  EXPECT_GT(record->used.wall_seconds, 15.0);
  EXPECT_TRUE(record->best_final.has_value());
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

TEST_F(RunTest, keeps_what_is_needed_to_do_it_again) {
  setup.limits = parse_budget("3c").value();
  const auto made = run();
  ASSERT_TRUE(made) << made.error().to_string();
  const auto archive = open();
  const auto record = archive->run(made->id).value();
  EXPECT_EQ(record.style, "vector");
  const auto problem = problem_of(record);
  ASSERT_TRUE(problem) << problem.error().to_string();
  EXPECT_EQ(problem->id(), setup.problem.id());
  const auto attempts = archive->attempts(made->id).value();
  for (const auto& attempt : attempts) {
    ASSERT_TRUE(attempt.accuracy.has_value());
    EXPECT_FALSE(attempt.accuracy->empty()) << attempt.ordinal;
  }
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

TEST_F(RunTest, survives_candidates_that_hang_crash_and_fail_to_build) {
  int built = 0;
  model = [&built](const BuildRequest& request) {
    FakeKernel kernel = landscape(request);
    if (!is_fused(request)) return kernel;
    switch (built++ % 4) {
      case 0:
        kernel.behaviour = FakeBehaviour::hangs;
        break;
      case 1:
        kernel.behaviour = FakeBehaviour::crashes;
        break;
      case 2:
        kernel.build = BuildStatus::source_error;
        break;
      default:
        break;
    }
    return kernel;
  };
  const auto record = run();
  ASSERT_TRUE(record) << record.error().to_string();
  EXPECT_EQ(record->used.candidates, 12);
  EXPECT_TRUE(record->best_ordinal.has_value());
}

TEST_F(RunTest, a_full_archive_is_a_clear_error_and_the_best_kernel_is_safe) {
  const auto archive = open(48);
  RealFileSystem files;
  setup.limits = parse_budget("2000c").value();
  const auto record = run(*archive, files);
  ASSERT_FALSE(record);
  EXPECT_EQ(record.error().code, errc::disk_full);
  const std::string text = record.error().to_string();
  const std::size_t at = text.find("the best kernel so far is safe at ");
  ASSERT_NE(at, std::string::npos) << text;
  const std::string path = text.substr(at + 34, text.find('\n', at) - at - 34);
  const auto bytes = files.read(path, 1 << 20);
  ASSERT_TRUE(bytes) << bytes.error().to_string();
  EXPECT_TRUE(parse_bundle(*bytes, path));
}

TEST_F(RunTest, no_kernel_that_passes_is_said_plainly) {
  model = [](const BuildRequest& request) {
    FakeKernel kernel = landscape(request);
    if (is_fused(request)) kernel.behaviour = FakeBehaviour::writes_zeros;
    return kernel;
  };
  const auto record = run();
  ASSERT_TRUE(record);
  EXPECT_FALSE(record->best_ordinal.has_value());
  EXPECT_TRUE(record->best_path.empty());
}

}  // namespace
}  // namespace kw

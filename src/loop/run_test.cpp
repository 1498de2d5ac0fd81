#include "loop/run.hpp"

#include "codegen/codegen.hpp"
#include "loop/run_problem.hpp"
#include "loop/testing/run_fixture.hpp"
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

/// Two seconds are what an unhurried final measurement needs.
TEST_F(RunTest, a_short_budget_is_for_finding_a_kernel_first) {
  setup.limits = parse_budget("2s").value();
  const auto record = run();
  ASSERT_TRUE(record) << record.error().to_string();
  EXPECT_LE(record->used.wall_seconds, 2.0);
  EXPECT_TRUE(record->best_ordinal.has_value());
  EXPECT_TRUE(record->best_final.has_value());
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

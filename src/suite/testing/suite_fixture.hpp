#pragma once
// For tests: suites over scripted backends, with a real archive and files of their own.

#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <mutex>
#include <set>

#include "base/file_system.hpp"
#include "loop/testing/run_fixture.hpp"
#include "suite/suite_loop.hpp"

namespace kw {

/// Its clock is its own, so that several work beside each other.
class FakeSuiteDevice final : public SuiteDevice {
 public:
  FakeSuiteDevice(std::string id, const std::filesystem::path& root, const std::atomic<bool>& stop)
      : id_(std::move(id)), stop_(stop) {
    auto archive = open_archive(RunDirectory::archive(root));
    KW_CHECK(archive.has_value(), "{}", archive.error().to_string());
    archive_ = *std::move(archive);
  }
  [[nodiscard]] std::string id() const override { return id_; }
  [[nodiscard]] Archive& archive() override { return *archive_; }
  Result<RunRecord> run(const RunSetup& setup, RunObserver& observer) override {
    setups.push_back(setup);
    if (before_run) KW_TRY_VOID(before_run(setup));
    RunSetup now = setup;
    now.started_utc = "2026-01-01T00:00:00Z";
    FakeBackend backend(setup.problem, clock_, model);
    RunServices services{backend, *archive_, files_, clock_, observer, stop_, serial_for};
    return run_loop(now, services);
  }
  KernelBenchVerdict judge_as_kernelbench(const Problem&) override { return {5, 5, 0, std::nullopt, ""}; }

  std::function<FakeKernel(const BuildRequest&)> model = landscape;
  std::function<Result<void>(const RunSetup&)> before_run;
  std::vector<RunSetup> setups;

 private:
  std::string id_;
  std::unique_ptr<Archive> archive_;
  RealFileSystem files_;
  FakeClock clock_;
  const std::atomic<bool>& stop_;
};

class QuietSuiteObserver final : public SuiteObserver {
 public:
  void begun(const SuiteState&, const SuiteRow& row) override { begun_names.push_back(row.item.name); }
  void phase(const SuiteRow&, const std::string&) override {}
  void attempt(const SuiteRow& row, const RunRecord&, const Attempt&, const BudgetUse&) override {
    ++attempts;
    if (on_attempt) on_attempt(row);
  }
  void ended(const SuiteState&, const SuiteRow& row) override { ended_names.push_back(row.item.name); }
  void warning(const SuiteRow&, const std::string&) override {}

  std::function<void(const SuiteRow&)> on_attempt;
  int attempts = 0;
  std::vector<std::string> begun_names;
  std::vector<std::string> ended_names;
};

/// Keeps every text of the suite's state, as a kill at any instant would leave one of them.
class RecordingFiles final : public FileSystem {
 public:
  [[nodiscard]] Result<std::string> read(const std::filesystem::path& path, std::int64_t max_bytes) const override {
    return real_.read(path, max_bytes);
  }
  [[nodiscard]] Result<void> write_atomic(const std::filesystem::path& path, std::string_view bytes) override {
    if (full) return fail(errc::disk_full, "the disk is full: {}", path.string());
    if (path.filename() == "suite.json") states.emplace_back(bytes);
    return real_.write_atomic(path, bytes);
  }
  [[nodiscard]] Result<void> create_directories(const std::filesystem::path& path) override {
    return real_.create_directories(path);
  }
  [[nodiscard]] bool exists(const std::filesystem::path& path) const override { return real_.exists(path); }

  std::vector<std::string> states;
  bool full = false;

 private:
  RealFileSystem real_;
};

/// Problems are the small one of the tests of verify/, under the names of their files.
class SuiteTest : public ::testing::Test {
 protected:
  SuiteTest() : directory(scratch.path() / "out") {
    std::filesystem::create_directories(directory.root());
    state.settings.target = "opencl";
    state.settings.budget_per_problem = "4c";
    state.settings.devices = {"fake:0"};
    for (const char* name : {"one", "two", "three"}) add(name);
  }
  void add(const std::string& name) {
    SuiteRow row;
    row.item = {name, (scratch.path() / (name + ".toml")).string(), std::nullopt, std::nullopt};
    write(row.item.input, name);
    state.rows.push_back(row);
  }
  static void write(const std::string& file, const std::string& text) { std::ofstream(file) << text; }

  Result<SuiteProblem> read(const SuiteRow& row) const {
    if (unreadable.contains(row.item.name)) {
      return fail(Error{ErrorCode{"program.syntax"}, "this is no module", "", {row.item.input, 3, 1}});
    }
    SuiteProblem read{small_problem(), row.item.input};
    read.problem.name = "test/" + row.item.name;
    return read;
  }
  Result<SuiteState> run(const SuiteState& begun, std::vector<SuiteDevice*> devices, const ParallelFor& parallel) {
    RunSetup common;
    common.version = "test";
    SuiteServices services{
        [this](const SuiteRow& row) { return read(row); }, common, devices, files, clock, observer, stop, parallel};
    return run_suite(begun, directory, services);
  }
  Result<SuiteState> run(const SuiteState& begun, SuiteDevice& device) { return run(begun, {&device}, serial_for); }

  ScratchDirectory scratch;
  SuiteDirectory directory;
  SuiteState state;
  RecordingFiles files;
  SteadyClock clock;
  QuietSuiteObserver observer;
  std::atomic<bool> stop{false};
  std::set<std::string> unreadable;
};

}  // namespace kw

#include "loop/sweep.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "codegen/codegen.hpp"
#include "hardware/device_file.hpp"
#include "loop/budget.hpp"
#include "loop/testing/run_fixture.hpp"
#include "loop/threads.hpp"
#include "problem/operator.hpp"
#include "propose/search/search_space.hpp"

namespace kw {
namespace {

using testing::HasSubstr;

class QuietSweep final : public SweepObserver {
 public:
  void phase(const std::string&) override {}
  void row(const SweepTable&, const SweepRow&) override {
    ++rows;
    if (on_row) on_row();
  }
  int rows = 0;
  std::function<void()> on_row;
};

class SweepTest : public ::testing::Test {
 protected:
  SweepTest() {
    setup.problem = small_problem();
    setup.target = "opencl";
    setup.count = 12;
    setup.file = scratch.path() / "table.csv";
    setup.version = "test";
    setup.started_utc = "2026-01-01T00:00:00Z";
  }

  Result<SweepTable> sweep() {
    FakeBackend backend(setup.problem, clock, model);
    RealFileSystem files;
    TimeLedger ledger(clock);
    SweepServices services{backend, files, clock, observer, stop, ledger, serial_for};
    return run_sweep(setup, services);
  }

  std::string text() const { return RealFileSystem().read(setup.file, k_most_sweep_bytes).value(); }

  ScratchDirectory scratch;
  SweepSetup setup;
  FakeClock clock;
  QuietSweep observer;
  std::atomic<bool> stop{false};
  std::function<FakeKernel(const BuildRequest&)> model = landscape;
};

std::set<IntBindings> assignments(const SweepTable& table) {
  std::set<IntBindings> all;
  for (const auto& row : table.rows) all.insert(row.assignment);
  return all;
}

TEST_F(SweepTest, times_guesses_and_random_candidates_against_one_reference) {
  setup.count = 40;
  const auto table = sweep();
  ASSERT_TRUE(table) << table.error().to_string();
  ASSERT_EQ(table->rows.size(), 40U);
  EXPECT_EQ(assignments(*table).size(), 40U);
  EXPECT_EQ(table->rows.front().origin, "seed 1");
  EXPECT_EQ(table->rows.back().origin, "random");
  EXPECT_TRUE(table->rows.front().is_reference);
  EXPECT_EQ(table->rows.front().status, VerdictStatus::accepted) << "the first reference is proved";
  EXPECT_GT(table->of.useful_flops, 0);
  EXPECT_EQ(table->of.bound_ns, 0) << "the fake device has no peaks";
  EXPECT_GT(table->of.space, 40);
  const double reference = table->rows.front().paired_ns;
  double best = reference;
  int slower_than_best = 0;
  for (const auto& row : table->rows) {
    ASSERT_TRUE(row.cost_ns().has_value()) << row.origin;
    // The fake's clock scatters by a thousandth.
    EXPECT_NEAR(row.paired_ns / row.time_ns, 1, 0.02);
    EXPECT_EQ(row.is_reference, &row == &table->rows.front()) << "errors of ratios would add up";
    const bool is_fastest = row.paired_ns < 0.95 * best;
    const bool is_slower = row.paired_ns > 1.05 * best;
    if (is_fastest || row.is_reference) {
      EXPECT_EQ(row.status, VerdictStatus::accepted) << "what is faster than all before it is proved";
    }
    if (is_slower) {
      EXPECT_EQ(row.status, VerdictStatus::screened) << "also where it is faster than the reference";
    }
    slower_than_best += is_slower && row.paired_ns < 0.95 * reference ? 1 : 0;
    best = std::min(best, row.paired_ns);
  }
  EXPECT_GT(slower_than_best, 0);
  EXPECT_EQ(encode_sweep(parse_sweep(text(), "table").value()), encode_sweep(*table)) << "the file has it all";
}

TEST_F(SweepTest, is_continued_where_it_was_stopped) {
  setup.count = 30;
  observer.on_row = [&] { stop = observer.rows == 7; };
  const auto part = sweep();
  ASSERT_TRUE(part) << part.error().to_string();
  EXPECT_EQ(part->rows.size(), 7U);
  stop = false;
  observer.on_row = nullptr;
  const auto whole = sweep();
  ASSERT_TRUE(whole) << whole.error().to_string();
  EXPECT_EQ(whole->rows.size(), 30U);
  EXPECT_EQ(assignments(*whole).size(), 30U) << "nothing is timed twice";
  for (std::size_t i = 0; i < 7; ++i) EXPECT_EQ(whole->rows[i].assignment, part->rows[i].assignment);
  for (std::size_t i = 7; i < 30; ++i) EXPECT_NEAR(whole->rows[i].paired_ns / whole->rows[i].time_ns, 1, 0.05);
  EXPECT_EQ(observer.rows, 30);
}

TEST_F(SweepTest, keeps_why_a_candidate_was_rejected) {
  model = [](const BuildRequest& request) {
    FakeKernel kernel = landscape(request);
    for (const auto& [name, value] : request.definitions) {
      if (name == "ROWS" && value % 2 == 0 && is_fused(request)) kernel.behaviour = FakeBehaviour::writes_zeros;
    }
    return kernel;
  };
  setup.count = 25;
  const auto table = sweep();
  ASSERT_TRUE(table) << table.error().to_string();
  int rejected = 0;
  for (const auto& row : table->rows) {
    const bool is_wrong = row.assignment.at("ROWS") % 2 == 0;
    EXPECT_EQ(row.status == VerdictStatus::rejected, is_wrong);
    EXPECT_EQ(row.reason == Reason::wrong_result, is_wrong) << to_string(row.reason);
    EXPECT_EQ(row.cost_ns().has_value(), !is_wrong);
    rejected += is_wrong ? 1 : 0;
  }
  EXPECT_GT(rejected, 0);
}

TEST_F(SweepTest, ends_with_its_budget) {
  setup.limits = parse_budget("5c").value();
  const auto table = sweep();
  ASSERT_TRUE(table) << table.error().to_string();
  EXPECT_EQ(table->rows.size(), 5U);
}

TEST_F(SweepTest, refuses_a_table_of_something_else) {
  ASSERT_TRUE(sweep());
  setup.style = "plain";
  const auto other = sweep();
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, errc::sweep_other);
  EXPECT_THAT(other.error().to_string(), HasSubstr("table.csv is a table of style vector, not plain"));
}

/// Its choices are more than are emitted one by one.
TEST_F(SweepTest, knows_the_same_space_however_many_threads_emit_it) {
  const std::string module =
      "import torch\nimport torch.nn as nn\nN = 8\nclass Model(nn.Module):\n    def __init__(self):\n"
      "        super().__init__()\n        self.c = nn.Conv2d(8, 16, 3)\n        self.n = nn.BatchNorm2d(16)\n"
      "    def forward(self, x):\n        return torch.softmax(self.n(self.c(x)), 1)\n"
      "def get_inputs():\n    return [torch.randn(N, 8, 40, 40)]\n";
  const auto toml = find_operator("program")->format.from_module({module, "m.py", "", "", {}, {1e30, 1e30}});
  ASSERT_TRUE(toml) << toml.error().to_string();
  const Problem problem = parse_problem(*toml, "m.py").value();
  const Style& style = *find_style("program", "cuda", "fused").value();
  const DeviceFacts device = *find_device_facts("h200");
  auto alone = SearchSpace::open(style, problem, device).value();
  auto together = SearchSpace::open(style, problem, device, parallel_for(4)).value();
  EXPECT_EQ(alone.size(), together.size());
  EXPECT_EQ(alone.names(), together.names());
  Rng one(3);
  Rng other(3);
  for (int i = 0; i < 20; ++i) {
    const auto point = alone.random_point(one).value();
    const auto same = together.random_point(other).value();
    EXPECT_EQ(alone.assignment(point), together.assignment(same));
    EXPECT_EQ(alone.estimate(point), together.estimate(same));
  }
}

TEST_F(SweepTest, refuses_a_simulator) {
  FakeBackend backend(setup.problem, clock, model);
  backend.mutable_device().kind = DeviceKind::simulator;
  RealFileSystem files;
  TimeLedger ledger(clock);
  SweepServices services{backend, files, clock, observer, stop, ledger, serial_for};
  const auto table = run_sweep(setup, services);
  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().code, errc::sweep_untimed);
}

}  // namespace
}  // namespace kw

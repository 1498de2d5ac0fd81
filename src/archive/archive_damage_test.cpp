// Bits that flip in a file at rest: a damaged run is named and passed over, every other run is read as it was written.

#include <gmock/gmock.h>

#include <fstream>
#include <map>

#include "archive/check.hpp"
#include "archive/export.hpp"
#include "archive/testing/test_support.hpp"
#include "base/file_system.hpp"
#include "base/rng.hpp"

namespace kw {
namespace {

using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int k_runs = 6;
constexpr int k_attempts = 8;
constexpr int k_turns = 3;

std::string id_of(int run) {
  return fmt::format("{:016x}", 0x5ca1ab1e00000000 + static_cast<std::uint64_t>(run));
}

/// What one run says, as text.
using RunText = std::vector<std::string>;

class ArchiveDamageTest : public ArchiveTest {
 protected:
  ArchiveDamageTest() : seed_(static_cast<std::uint64_t>(::getpid())), rng_(seed_) {
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed_));
  }

  /// Runs with bundles of their own, so that damage of one is damage of one.
  void write_runs() {
    const auto archive = open();
    for (int i = 0; i < k_runs; ++i) {
      SyntheticRun synthetic = synthetic_run(static_cast<std::uint64_t>(i), k_attempts);
      synthetic.run.id = id_of(i);
      synthetic.run.started_utc = fmt::format("2026-01-01T00:00:0{}Z", i);
      synthetic.run.problem_source = ProblemSource{fmt::format("op = \"attention\" # {}", i), {}, {}};
      ASSERT_TRUE(archive->begin_run(synthetic.run));
      RunText text{encode(synthetic.run)};
      for (auto& attempt : synthetic.attempts) {
        attempt.candidate.bundle.source += fmt::format("// {}\n", i);
        ASSERT_TRUE(archive->append(synthetic.run.id, attempt));
        text.push_back(encode(attempt));
      }
      for (int turn = 0; turn < k_turns; ++turn) {
        ASSERT_TRUE(archive->append_turn(synthetic.run.id, some_turn(turn)));
        text.push_back(encode(some_turn(turn)));
      }
      written_[synthetic.run.id] = text;
    }
  }

  void start_again() {
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
    if (written_.empty()) {
      write_runs();
      whole_file_ = RealFileSystem().read(file_, 1 << 30).value();
    } else {
      std::ofstream(file_, std::ios::binary) << whole_file_;
    }
  }

  static RunText read(const Archive& archive, const std::string& id) {
    const auto run = archive.run(id);
    const auto attempts = archive.attempts(id);
    const auto turns = archive.turns(id);
    if (!run || !attempts || !turns) return {};
    RunText text{encode(*run)};
    for (const auto& attempt : *attempts) text.push_back(encode(attempt));
    for (const auto& turn : *turns) text.push_back(encode(turn));
    return text;
  }

  void expect_as_written(const std::filesystem::path& file, const std::vector<std::string>& ids) const {
    const auto archive = open_archive(file, {.read_only = true});
    ASSERT_TRUE(archive) << archive.error().to_string();
    for (const auto& id : ids) EXPECT_TRUE(read(**archive, id) == written_.at(id)) << id;
  }

  void expect_clean_with(const std::vector<std::string>& ids) const {
    const auto state = check_archive(file_);
    ASSERT_TRUE(state) << state.error().to_string();
    EXPECT_TRUE(state->damage.empty()) << state->damage.front().what;
    EXPECT_EQ(state->whole, ids);
    expect_as_written(file_, ids);
    EXPECT_FALSE(std::filesystem::exists(file_.string() + ".repaired"));
    EXPECT_FALSE(std::filesystem::exists(file_.string() + ".renewed"));
  }

  void flip_byte(std::int64_t at) {
    std::fstream file(file_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(at);
    const int byte = file.get();
    file.seekp(at);
    file.put(static_cast<char>(byte ^ (1 << rng_.below(8))));
    ASSERT_TRUE(file.good());
  }

  /// A copy of the record with one bit flipped, put in its place.
  void flip_in(const std::string& table, const std::string& column, std::int64_t row) {
    const char* const key = table == "bundles" ? "hash" : "rowid";
    const std::string which =
        fmt::format("{0} = (SELECT {0} FROM {1} ORDER BY {0} LIMIT 1 OFFSET {2})", key, table, row);
    auto database = sqlite::Database::open(file_, sqlite::OpenMode::create).value();
    std::string bytes;
    {
      auto select = database.prepare(fmt::format("SELECT {} FROM {} WHERE {}", column, table, which)).value();
      ASSERT_TRUE(select.step().value());
      bytes = select.text(0);
    }
    const auto at = static_cast<std::size_t>(rng_.below(static_cast<std::int64_t>(bytes.size())));
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << rng_.below(8)));
    auto update = database.prepare(fmt::format("UPDATE {} SET {} = ?1 WHERE {}", table, column, which)).value();
    ASSERT_TRUE(update.bind(1, bytes).run());
  }

  std::uint64_t seed_;
  Rng rng_;
  std::map<std::string, RunText> written_;
  std::string whole_file_;
};

TEST_F(ArchiveDamageTest, a_bit_in_the_record_of_one_run_leaves_the_others_usable) {
  for (int round = 0; round < 10; ++round) {
    start_again();
    const auto victim = rng_.below(k_runs);
    flip_in("runs", "record", victim);
    const auto archive = open({.read_only = true});
    const auto runs = archive->runs();
    ASSERT_TRUE(runs) << runs.error().to_string();
    ASSERT_EQ(runs->size(), k_runs - 1U) << "round " << round;
    for (const auto& run : *runs) EXPECT_EQ(encode(run), written_.at(run.id).front());
    EXPECT_THAT(archive->passed_over(), ElementsAre(id_of(static_cast<int>(victim))));
    EXPECT_EQ(archive->run(id_of(static_cast<int>(victim))).error().code, errc::archive_corrupt);
  }
}

TEST_F(ArchiveDamageTest, a_bit_in_any_record_is_found_and_costs_its_run_alone) {
  const std::vector<std::pair<std::string, std::int64_t>> tables = {
      {"runs", k_runs}, {"attempts", k_runs * k_attempts}, {"turns", k_runs * k_turns}, {"bundles", k_runs}};
  for (int round = 0; round < 24; ++round) {
    start_again();
    const auto& [table, rows] = tables[static_cast<std::size_t>(round) % tables.size()];
    flip_in(table, "record", rng_.below(rows));
    const auto state = check_archive(file_);
    ASSERT_TRUE(state) << state.error().to_string();
    ASSERT_EQ(state->damaged_runs().size(), 1U) << table << ", round " << round;
    ASSERT_EQ(state->whole.size(), k_runs - 1U);
    expect_as_written(file_, state->whole);

    const auto repair = repair_archive(file_, "then");
    ASSERT_TRUE(repair) << repair.error().to_string();
    EXPECT_EQ(repair->state.whole, state->whole);
    EXPECT_EQ(repair->state.damaged_runs(), state->damaged_runs());
    expect_clean_with(state->whole);
    expect_as_written(repair->kept, state->whole);
    EXPECT_EQ(check_archive(repair->kept)->damaged_runs(), state->damaged_runs()) << "the copy keeps what is damaged";
  }
}

TEST_F(ArchiveDamageTest, a_column_that_a_query_would_use_counts_as_the_record_does) {
  start_again();
  auto database = sqlite::Database::open(file_, sqlite::OpenMode::create).value();
  ASSERT_TRUE(database.execute(fmt::format("UPDATE runs SET target = 'opencm' WHERE id = '{}'", id_of(1))));
  ASSERT_TRUE(database.execute(fmt::format("DELETE FROM attempts WHERE ordinal = 2 AND run_id = '{}'", id_of(2))));
  ASSERT_TRUE(database.execute(fmt::format("DELETE FROM attempts WHERE run_id = '{}'", id_of(3))));
  ASSERT_TRUE(database.execute(fmt::format("DELETE FROM runs WHERE id = '{}'", id_of(4))));
  const auto state = check_archive(file_).value();
  EXPECT_THAT(state.whole, ElementsAre(id_of(5), id_of(0)));
  std::string said;
  for (const auto& one : state.damage) said += one.what + "\n";
  EXPECT_THAT(said, HasSubstr(fmt::format("at run {}: its bytes are not those that were written", id_of(1))));
  EXPECT_THAT(said, HasSubstr(fmt::format("at attempt 3 of run {}: attempts before it are missing", id_of(2))));
  EXPECT_THAT(said, HasSubstr(fmt::format("run {}: its best attempt ", id_of(3))));
  EXPECT_THAT(said, HasSubstr(fmt::format("run {}: its row is missing", id_of(4))));
}

bool differ_at_most_once(const std::string& a, const std::string& b) {
  if (a.size() != b.size()) return false;
  int different = 0;
  for (std::size_t i = 0; i < a.size(); ++i) different += a[i] == b[i] ? 0 : 1;
  return different <= 1;
}

/// Anywhere behind the first page, which says what the file is: in records, page headers, indexes or nothing at all.
TEST_F(ArchiveDamageTest, a_bit_anywhere_in_the_file_never_changes_what_a_run_says) {
  int found = 0;
  for (int round = 0; round < 40; ++round) {
    start_again();
    const auto size = static_cast<std::int64_t>(std::filesystem::file_size(file_));
    const std::int64_t at = 4096 + rng_.below(size - 4096);
    flip_byte(at);
    SCOPED_TRACE(fmt::format("seed {}, round {}, byte {}", seed_, round, at));
    const auto state = check_archive(file_);
    ASSERT_TRUE(state) << state.error().to_string();
    expect_as_written(file_, state->whole);
    if (state->damage.empty()) {
      EXPECT_EQ(state->whole.size(), written_.size()) << "a run is lost, and nobody says so";
      continue;
    }
    ++found;
    const auto repair = repair_archive(file_, "then");
    ASSERT_TRUE(repair) << repair.error().to_string();
    expect_clean_with(repair->state.whole);
    auto named = repair->state.damaged_runs();
    named.insert(named.end(), repair->state.whole.begin(), repair->state.whole.end());
    for (const auto& entry : written_) {
      const std::string& id = entry.first;
      // Where the byte is one of the id's own, the run is named as its id now reads.
      EXPECT_THAT(named,
                  Contains(testing::Truly([&](const std::string& other) { return differ_at_most_once(other, id); })))
          << "neither kept nor named";
    }
  }
  EXPECT_GT(found, 10) << "most bytes of an archive are records";
}

TEST_F(ArchiveDamageTest, a_bit_in_the_first_page_may_cost_the_file_but_is_said_and_changes_nothing) {
  for (int round = 0; round < 60; ++round) {
    start_again();
    const std::int64_t at = rng_.below(round % 2 == 0 ? 100 : 4096);
    flip_byte(at);
    SCOPED_TRACE(fmt::format("seed {}, round {}, byte {}", seed_, round, at));
    const auto state = check_archive(file_);
    if (state) {
      expect_as_written(file_, state->whole);
      EXPECT_TRUE(state->whole.size() == written_.size() || !state->damage.empty());
      continue;
    }
    EXPECT_THAT(state.error().code, AnyOf(errc::archive_corrupt, errc::archive_version, errc::archive_open));
    const bool advised = state.error().hint.find(".recover") != std::string::npos;
    EXPECT_EQ(advised, state.error().code == errc::archive_corrupt) << state.error().to_string();
    EXPECT_FALSE(repair_archive(file_, "then"));
  }
}

TEST_F(ArchiveDamageTest, the_newest_whole_run_is_the_last_one_and_seeds_come_from_whole_runs) {
  start_again();
  const auto whole = open({.read_only = true})->bests("attention", "opencl", k_runs).value();
  flip_in("turns", "record", (k_runs * k_turns) - 1);
  flip_in("attempts", "record", 3 * k_attempts);
  const auto archive = open({.read_only = true});
  EXPECT_EQ(archive->run("last")->id, id_of(k_runs - 2));
  const auto bests = archive->bests("attention", "opencl", k_runs);
  ASSERT_TRUE(bests) << bests.error().to_string();
  for (const auto& best : *bests) EXPECT_NE(best.run_id, id_of(3));
  EXPECT_LT(bests->size(), whole.size());
  EXPECT_THAT(archive->passed_over(), ElementsAre(id_of(k_runs - 1), id_of(3)));
  EXPECT_EQ(damage_warning(file_, archive->passed_over()),
            fmt::format("runs in {0} are damaged and passed over: {1}, {2}; kernelwright archive check --out {3} lists "
                        "what is damaged; kernelwright archive repair --out {3} sets it aside",
                        file_.string(), id_of(k_runs - 1), id_of(3), directory_.string()));
}

TEST_F(ArchiveDamageTest, a_run_that_brings_a_damaged_bundle_again_heals_it) {
  start_again();
  flip_in("bundles", "record", 0);
  const auto damaged = check_archive(file_)->damaged_runs();
  ASSERT_EQ(damaged.size(), 1U);
  SyntheticRun again = synthetic_run(static_cast<std::uint64_t>(damaged[0].back() - '0'), 1);
  again.run.id = "0123";
  again.run.best_ordinal.reset();
  again.attempts[0].candidate.bundle.source += fmt::format("// {}\n", damaged[0].back());
  {
    const auto archive = open();
    ASSERT_TRUE(archive->begin_run(again.run));
    ASSERT_TRUE(archive->append(again.run.id, again.attempts[0]));
  }
  EXPECT_TRUE(check_archive(file_)->damage.empty());
}

TEST_F(ArchiveDamageTest, a_whole_archive_is_not_touched_and_one_in_use_is_not_repaired) {
  start_again();
  const auto untouched = repair_archive(file_, "then");
  ASSERT_TRUE(untouched) << untouched.error().to_string();
  EXPECT_TRUE(untouched->kept.empty());
  EXPECT_EQ(untouched->state.whole.size(), written_.size());
  flip_in("runs", "record", 0);
  {
    const auto writer = open();
    const auto refused = repair_archive(file_, "then");
    ASSERT_FALSE(refused);
    expect_error(refused.error(), errc::archive_busy,
                 fmt::format("the archive {} is held by another process", file_.string()));
  }
  std::ofstream(file_.string() + ".damaged-then") << "somebody's";
  EXPECT_EQ(repair_archive(file_, "then").error().code, errc::io) << "a copy is never written over";
  EXPECT_TRUE(repair_archive(file_, "later"));
  EXPECT_EQ(repair_archive(directory_ / "none", "then").error().code, errc::archive_open);
}

TEST_F(ArchiveDamageTest, an_export_has_every_record_of_a_run_as_one_line) {
  start_again();
  const auto archive = open({.read_only = true});
  std::vector<std::string> lines;
  const auto keep = [&](std::string_view line) -> Result<void> {
    lines.emplace_back(line);
    return {};
  };
  ASSERT_TRUE(export_run(*archive, archive->run(id_of(2)).value(), keep));
  const RunText& written = written_.at(id_of(2));
  ASSERT_EQ(lines.size(), written.size());
  EXPECT_EQ(lines[0], written[0]);
  for (std::size_t i = 1; i < lines.size(); ++i) {
    EXPECT_EQ(lines[i], fmt::format("{{\"run_id\":\"{}\",{}", id_of(2), written[i].substr(1)));
    EXPECT_EQ(lines[i].find('\n'), std::string::npos);
  }
  flip_in("attempts", "record", 2 * k_attempts);
  lines.clear();
  EXPECT_EQ(export_run(*archive, archive->run(id_of(2)).value(), keep).error().code, errc::archive_corrupt);
  EXPECT_TRUE(lines.empty());
}

}  // namespace
}  // namespace kw

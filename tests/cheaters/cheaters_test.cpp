// Every bundle of this folder through the real verifier and the real device, and every bundle of tests/cheaters_cuda
// through the verifier and the simulator. A bundle with CHEAT = 1 is a cheat and
// must be rejected by the gate and for the reason that its line "// caught by: GATE REASON" names; with CHEAT = 0 it is
// the honest twin and must be accepted. To add a cheat, add a file. Those of tests/cheaters_final are accepted first,
// and must be caught when the best kernel is measured for the last time; they name the error.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "tests/system/system_test.hpp"

namespace kw {
namespace {

std::vector<std::string> cheaters(const std::string& folder, const std::string& extension) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == extension) paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string name_of(const ::testing::TestParamInfo<std::string>& path) {
  return std::filesystem::path(path.param).stem().string();
}

/// What follows `label` on its line of the bundle; "" without such a line.
std::string line_of(const std::string& path, const std::string& label) {
  std::istringstream source(RealFileSystem().read(path, 1 << 20).value());
  for (std::string line; std::getline(source, line);) {
    if (line.rfind(label, 0) == 0) return line.substr(label.size());
  }
  return "";
}

class CheatTest : public SystemTest, public ::testing::WithParamInterface<std::string> {
 protected:
  [[nodiscard]] static const std::string& path() { return GetParam(); }
  [[nodiscard]] static bool simulated() { return path().ends_with(".cu"); }

  [[nodiscard]] static std::string line_of_source(const std::string& label) { return line_of(path(), label); }

  /// Simulating is left to the cheats that only the sanitize gate catches, and to their twins.
  static VerifyResult verify_with(std::int64_t cheat) {
    const bool by_sanitizer = line_of_source("// caught by: ").rfind("sanitize", 0) == 0;
    return verify(path(), {{"CHEAT", cheat}}, by_sanitizer && !simulated());
  }

  [[nodiscard]] static std::string cause(const VerifyResult& result) {
    const auto& verdict = result.verdict;
    if (!verdict.failed_gate) return std::string(to_string(verdict.status));
    return std::string(to_string(*verdict.failed_gate)) + " " + std::string(to_string(verdict.reason));
  }

  [[nodiscard]] static std::string story(const VerifyResult& result) {
    std::string text = result.verdict.message;
    for (const auto& evidence : result.verdict.evidence) text += "\n  " + evidence.text;
    return text + "\n" + result.build.log;
  }
};

TEST_P(CheatTest, is_caught_by_the_gate_it_names) {
  const std::string named = line_of_source("// caught by: ");
  ASSERT_FALSE(named.empty()) << path() << " does not say `// caught by: GATE REASON`";
  const auto result = verify_with(1);
  EXPECT_EQ(cause(result), named) << story(result);
  EXPECT_FALSE(result.measurement.has_value()) << "a rejected candidate has no time";
}

TEST_P(CheatTest, has_an_honest_twin_that_passes) {
  const bool twin_refused = !line_of_source("// The honest twin is refused as well: ").empty();
  const auto result = verify_with(0);
  EXPECT_EQ(cause(result), twin_refused ? line_of_source("// caught by: ") : "accepted") << story(result);
  EXPECT_EQ(result.measurement.has_value(), !twin_refused && !simulated());
}

class ScreenedCheatTest : public CheatTest {};

TEST_P(ScreenedCheatTest, does_not_become_the_best_where_candidates_are_screened_first) {
  const bool by_sanitizer = line_of_source("// caught by: ").rfind("sanitize", 0) == 0;
  const auto result = verify_screened(path(), {{"CHEAT", 1}}, by_sanitizer);
  EXPECT_FALSE(result.verdict.accepted()) << story(result);
}

INSTANTIATE_TEST_SUITE_P(Cheaters, CheatTest, ::testing::ValuesIn(cheaters("tests/cheaters", ".cl")), name_of);
INSTANTIATE_TEST_SUITE_P(Cheaters, ScreenedCheatTest, ::testing::ValuesIn(cheaters("tests/cheaters", ".cl")), name_of);
INSTANTIATE_TEST_SUITE_P(CudaCheaters, CheatTest, ::testing::ValuesIn(cheaters("tests/cheaters_cuda", ".cu")), name_of);

/// Bundles of tests/cheaters_final: good in the search, accepted there, and a lie in the final measurement alone.
class FinalLiarTest : public SystemTest, public ::testing::WithParamInterface<std::string> {
 protected:
  FinalLiarTest()
      : problem_(load_problem("tests/problems/tiny_causal.toml", RealFileSystem(), {}).value()),
        verifier_(open_verifier(problem_, &sanitizer()).value()) {}

  /// What the final measurement of the bundle gives, once the search has accepted it.
  [[nodiscard]] Result<Measurement> measured_at_the_end(std::int64_t cheat) {
    const auto searched = verifier_->verify(read_candidate(GetParam(), {{"CHEAT", cheat}}));
    EXPECT_TRUE(searched.verdict.accepted()) << searched.verdict.message;
    if (!searched.verdict.accepted()) return fail(errc::worker_failed, "rejected in the search");
    verifier_->promote();
    return verifier_->final_measurement(2, [](Duration) { return true; });
  }

  Problem problem_;
  std::unique_ptr<Verifier> verifier_;
};

TEST_P(FinalLiarTest, is_caught_as_it_says) {
  const std::string named = line_of(GetParam(), "// caught by: ");
  ASSERT_FALSE(named.empty());
  const auto last = measured_at_the_end(1);
  ASSERT_FALSE(last) << "a time of " << last->median_ns << " ns was believed";
  EXPECT_EQ(last.error().message.substr(0, named.size()), named) << last.error().message;
}

TEST_P(FinalLiarTest, has_an_honest_twin_that_is_measured) {
  const auto last = measured_at_the_end(0);
  ASSERT_TRUE(last) << last.error().to_string();
  EXPECT_GT(last->median_ns, 0);
}

INSTANTIATE_TEST_SUITE_P(Cheaters, FinalLiarTest, ::testing::ValuesIn(cheaters("tests/cheaters_final", ".cl")),
                         name_of);

TEST(Cheaters, are_as_many_as_the_readme_says) {
  const auto readme = RealFileSystem().read("README.md", 1 << 20).value();
  const auto count = cheaters("tests/cheaters", ".cl").size(), in_cuda = cheaters("tests/cheaters_cuda", ".cu").size();
  EXPECT_THAT(readme, ::testing::HasSubstr(fmt::format(" {} kernels that cheat test the verifier", count)));
  EXPECT_THAT(readme, ::testing::HasSubstr(fmt::format(" {} more are in CUDA", in_cuda)));
}

}  // namespace
}  // namespace kw

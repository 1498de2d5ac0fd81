// Every bundle of this folder through the real verifier and the real device. A bundle with CHEAT = 1 is a cheat and
// must be rejected by the gate and for the reason that its line "// caught by: GATE REASON" names; with CHEAT = 0 it is
// the honest twin and must be accepted. To add a cheat, add a file.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "tests/system/system_test.hpp"

namespace kw {
namespace {

std::vector<std::string> cheaters() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator("tests/cheaters")) {
    if (entry.path().extension() == ".cl") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class CheatTest : public SystemTest, public ::testing::WithParamInterface<std::string> {
 protected:
  [[nodiscard]] static std::string path() { return "tests/cheaters/" + GetParam() + ".cl"; }

  /// What follows `label` on its line of the source; "" without such a line.
  [[nodiscard]] static std::string line_of_source(const std::string& label) {
    std::istringstream source(read_candidate(path()).bundle.source);
    for (std::string line; std::getline(source, line);) {
      if (line.rfind(label, 0) == 0) return line.substr(label.size());
    }
    return "";
  }

  /// Simulating is left to the cheats that only the sanitize gate catches, and to their twins.
  static VerifyResult verify_with(std::int64_t cheat) {
    return verify(path(), {{"CHEAT", cheat}}, line_of_source("// caught by: ").rfind("sanitize", 0) == 0);
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
  EXPECT_EQ(result.measurement.has_value(), !twin_refused);
}

INSTANTIATE_TEST_SUITE_P(Cheaters, CheatTest, ::testing::ValuesIn(cheaters()),
                         [](const auto& name) { return name.param; });

TEST(Cheaters, are_many) {
  EXPECT_GE(cheaters().size(), 80U) << "run from the root of the source tree";
}

}  // namespace
}  // namespace kw

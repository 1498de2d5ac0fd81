#include "suite/baseline_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kw {
namespace {

TEST(BaselineFile, takes_times_by_baseline_and_problem) {
  const auto read =
      parse_suite_baselines(R"({"eager": {"level1/1_a": 2.5, "2_b.py": 1}, "compiled": {"1_a": 0.5}})", "times.json");
  ASSERT_TRUE(read) << read.error().to_string();
  ASSERT_EQ(read->size(), 2U);
  EXPECT_EQ(read->at(0).name, "compiled");
  EXPECT_EQ(read->at(0).ns_of("level2/1_a"), 0.5e6) << "the folder may be left out";
  EXPECT_EQ(read->at(1).ns_of("level1/1_a"), 2.5e6);
  EXPECT_FALSE(read->at(1).ns_of("level2/1_a")) << "it is another level's";
  EXPECT_EQ(read->at(1).ns_of("level2/2_b"), 1e6);
}

TEST(BaselineFile, takes_what_kernelbench_writes) {
  const auto read = parse_suite_baselines(
      R"({"level1": {"1_a.py": {"mean": 3.68, "std": 0.01, "hardware": "x"}}, "level2": {"1_a.py": {"mean": 4}}})",
      "some/baseline_time_torch.json");
  ASSERT_TRUE(read) << read.error().to_string();
  ASSERT_EQ(read->size(), 1U);
  EXPECT_EQ(read->at(0).name, "baseline_time_torch");
  EXPECT_EQ(read->at(0).ns_of("level1/1_a"), 3.68e6);
  EXPECT_EQ(read->at(0).ns_of("level2/1_a"), 4e6);
}

TEST(BaselineFile, says_what_is_not_of_either_form) {
  const auto message = [](const char* text) {
    const auto refused = parse_suite_baselines(text, "t.json");
    if (refused) return std::string("accepted");
    EXPECT_EQ(refused.error().code, errc::suite_baseline);
    EXPECT_NE(refused.error().hint, "");
    return refused.error().message;
  };
  EXPECT_EQ(message("eager 3"), "t.json: this is not JSON");
  EXPECT_EQ(message("[1]"), "t.json: there is no object of baselines");
  EXPECT_EQ(message("{}"), "t.json: there is no object of baselines");
  EXPECT_EQ(message(R"({"eager": 3})"), "t.json: \"eager\" is no object of problems");
  EXPECT_EQ(message(R"({"eager": {"a": "fast"}})"), "t.json: the time of \"a\" is no number");
  EXPECT_EQ(message(R"({"eager": {"a": {"median": 3}}})"), "t.json: the time of \"a\" is no number");
  EXPECT_EQ(message(R"({"eager": {"a": -1}})"), "t.json: the time of \"a\" is -1, which no kernel takes");
}

}  // namespace
}  // namespace kw

#include "tests/seams/few_rows/few_rows.hpp"

#include <gtest/gtest.h>

#include "loop/testing/run_fixture.hpp"

namespace kw {
namespace {

TEST_F(RunTest, a_gate_that_is_registered_rejects_before_anything_is_built) {
  setup.limits = parse_budget("12c").value();
  const auto record = run();
  ASSERT_TRUE(record) << record.error().to_string();
  int rejected = 0;
  const auto attempts = open()->attempts(record->id).value();
  for (const auto& attempt : attempts) {
    const auto rows = attempt.candidate.tunables.find("ROWS");
    ASSERT_NE(rows, attempt.candidate.tunables.end());
    const bool many = rows->second > k_few_rows;
    EXPECT_EQ(many, attempt.verdict.failed_gate == GateId::extra) << rows->second;
    if (!many) continue;
    ++rejected;
    EXPECT_EQ(attempt.verdict.message, fmt::format("{} rows are too many", rows->second));
    EXPECT_EQ(attempt.build.binary_bytes, 0) << "nothing was built";
  }
  EXPECT_GT(rejected, 0);
}

}  // namespace
}  // namespace kw

#include "cli/print.hpp"

#include <gtest/gtest.h>

namespace kw {
namespace {

TEST(VerdictInWords, says_of_what_no_sanitizer_looked_at_that_none_did) {
  Verdict verdict;
  verdict.status = VerdictStatus::accepted;
  verdict.gates_passed = {GateId::read, GateId::build, GateId::check, GateId::time};
  EXPECT_EQ(verdict_in_words(verdict), "accepted, but not sanitized");
  verdict.gates_passed.push_back(GateId::sanitize);
  EXPECT_EQ(verdict_in_words(verdict), "accepted");
}

TEST(VerdictInWords, says_nothing_of_sanitizers_where_a_kernel_is_not_accepted) {
  Verdict verdict;
  verdict.status = VerdictStatus::rejected;
  EXPECT_EQ(verdict_in_words(verdict), "rejected");
  verdict.status = VerdictStatus::unverified;
  EXPECT_EQ(verdict_in_words(verdict), "unverified");
}

}  // namespace
}  // namespace kw

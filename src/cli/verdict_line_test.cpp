#include "cli/verdict_line.hpp"

#include <gtest/gtest.h>

namespace kw {
namespace {

TEST(VerdictLine, says_what_an_accepted_kernel_lacks) {
  Verdict verdict;
  verdict.gates_passed = {GateId::read, GateId::build, GateId::check, GateId::time, GateId::sanitize};
  EXPECT_EQ(verdict_line(verdict), "accepted");
  verdict.gates_passed.pop_back();
  EXPECT_EQ(verdict_line(verdict), "accepted (not sanitized)");
}

TEST(VerdictLine, says_of_other_verdicts_what_they_are) {
  Verdict rejected;
  rejected.reject(GateId::build, Reason::build_failed, "no");
  EXPECT_EQ(verdict_line(rejected), "rejected");
  Verdict undecided;
  undecided.cannot_decide(GateId::build, "busy");
  EXPECT_EQ(verdict_line(undecided), "unverified");
}

}  // namespace
}  // namespace kw

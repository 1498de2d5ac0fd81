#include "record/verdict.hpp"

#include <gtest/gtest.h>

#include "record/attempt.hpp"
#include "record/run_record.hpp"

namespace kw {
namespace {

TEST(Verdict, keeps_the_first_cause) {
  Verdict verdict;
  verdict.pass(GateId::read);
  verdict.reject(GateId::build, Reason::build_failed, "the compiler refused it");
  verdict.reject(GateId::check, Reason::wrong_result, "also wrong");
  verdict.cannot_decide(GateId::time, "the device went away");
  EXPECT_FALSE(verdict.accepted());
  EXPECT_EQ(verdict.status, VerdictStatus::rejected);
  EXPECT_EQ(verdict.reason, Reason::build_failed);
  EXPECT_EQ(verdict.failed_gate, GateId::build);
  EXPECT_EQ(verdict.message, "the compiler refused it");
  EXPECT_EQ(verdict.gates_passed, std::vector<GateId>{GateId::read});
}

TEST(Verdict, an_undecided_candidate_is_not_rejected_later) {
  Verdict verdict;
  verdict.cannot_decide(GateId::check, "the disk is full");
  verdict.reject(GateId::time, Reason::timeout, "late");
  EXPECT_EQ(verdict.status, VerdictStatus::unverified);
  EXPECT_EQ(verdict.reason, Reason::none);
  EXPECT_EQ(verdict.message, "the disk is full");
}

TEST(Verdict, notes_evidence_without_deciding) {
  Verdict verdict;
  verdict.note(GateId::check, "max error 1e-7");
  verdict.note(GateId::check, "B=3 Sq=77", true);
  EXPECT_TRUE(verdict.accepted());
  ASSERT_EQ(verdict.evidence.size(), 2U);
  EXPECT_FALSE(verdict.evidence[0].hidden);
  EXPECT_TRUE(verdict.evidence[1].hidden);
}

TEST(Records, enumerators_have_names_of_their_own) {
  EXPECT_EQ(to_string(GateId::static_check), "static");
  EXPECT_EQ(to_string(VerdictStatus::unverified), "unverified");
  EXPECT_EQ(to_string(Reason::output_unwritten), "output_unwritten");
  EXPECT_EQ(to_string(Comparison::unreliable), "unreliable");
  EXPECT_EQ(to_string(RunStatus::exhausted), "exhausted");
  // A value from a damaged file still prints.
  EXPECT_EQ(to_string(static_cast<Reason>(200)), "unknown");
}

}  // namespace
}  // namespace kw

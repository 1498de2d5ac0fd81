// Every cheat of cheater.cl through the real verifier and the real device; each names the gate and reason that must
// catch it. CHEAT 0 is the honest twin and must pass.

#include <gtest/gtest.h>

#include "tests/system/system_test.hpp"

namespace kw {
namespace {

struct Cheat {
  int number;
  const char* what;
  GateId gate;
  Reason reason;
};

class CheatTest : public SystemTest, public ::testing::WithParamInterface<Cheat> {};

TEST_P(CheatTest, is_caught_by_its_gate) {
  const auto result = verify("tests/cheaters/cheater.cl", {{"CHEAT", GetParam().number}});
  EXPECT_EQ(to_string(result.verdict.status), to_string(VerdictStatus::rejected)) << GetParam().what;
  EXPECT_EQ(result.verdict.failed_gate, GetParam().gate) << result.verdict.message;
  EXPECT_EQ(to_string(result.verdict.reason), to_string(GetParam().reason)) << result.verdict.message;
}

constexpr Cheat k_cheats[] = {
    {1, "batch_ignored", GateId::check, Reason::wrong_result},
    {2, "group_ignored", GateId::check, Reason::wrong_result},
    {3, "head_ignored", GateId::check, Reason::wrong_result},
    {4, "mask_off_by_one", GateId::check, Reason::wrong_result},
    {5, "mask_ignored", GateId::check, Reason::wrong_result},
    {6, "first_tile_only", GateId::check, Reason::wrong_result},
    {7, "output_unwritten", GateId::check, Reason::output_unwritten},
    {8, "primary_shape_only", GateId::check, Reason::wrong_result},
    {9, "input_overwritten", GateId::check, Reason::input_modified},
    {10, "write_in_front", GateId::check, Reason::guard_overwritten},
    {11, "write_behind", GateId::check, Reason::guard_overwritten},
    {12, "last_row_wrong", GateId::check, Reason::wrong_result},
    {13, "low_precision", GateId::check, Reason::wrong_result},
    {14, "reads_stale_scratch", GateId::check, Reason::not_finite},
    {15, "constant", GateId::check, Reason::wrong_result},
    {16, "identity", GateId::check, Reason::wrong_result},
};

INSTANTIATE_TEST_SUITE_P(Cheaters, CheatTest, ::testing::ValuesIn(k_cheats),
                         [](const auto& cheat) { return std::string(cheat.param.what); });

TEST_F(SystemTest, the_honest_twin_of_every_cheat_passes) {
  const auto result = verify("tests/cheaters/cheater.cl", {{"CHEAT", 0}});
  EXPECT_TRUE(result.verdict.accepted()) << result.verdict.message;
  EXPECT_TRUE(result.measurement.has_value());
}

}  // namespace
}  // namespace kw

// In the model's seat: what a sanitizer or the simulator found, with the lines of the model's own bundle.
#include <gmock/gmock.h>

#include "propose/testing/model_seat.hpp"

namespace kw {
namespace {

using testing::HasSubstr;

class FindingTest : public ModelSeat {};

TEST_F(FindingTest, both_sides_of_a_race_are_quoted_with_the_lines_of_the_bundle) {
  turn("__local float part[2];\n  part[0] = 1;\n  O[0] = part[0];",
       refused(GateId::sanitize, Reason::sanitizer_report, "a sanitizer finding: a data race, line 5 and line 4"));
  EXPECT_THAT(told(), HasSubstr("line 5 [15]: named in the finding"));
  EXPECT_THAT(told(), HasSubstr(">    5 [  15] |   O[0] = part[0];"));
  EXPECT_THAT(told(), HasSubstr("line 4 [14]: named in the finding"));
  EXPECT_THAT(told(), HasSubstr(">    4 [  14] |   part[0] = 1;"));
}

TEST_F(FindingTest, without_a_line_quotes_nothing) {
  turn("O[0] = 1;", refused(GateId::sanitize, Reason::sanitizer_report, "a sanitizer finding"));
  EXPECT_THAT(told(), testing::Not(HasSubstr("The lines that this points to")));
}

}  // namespace
}  // namespace kw

#include "record/named_lines.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace kw {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(NamedLines, are_those_of_both_sides_of_a_race_each_once) {
  EXPECT_THAT(named_lines("Race reported between Write access at race+0x100 in probe.cu:7; and Read access at "
                          "race+0x110 in probe.cu:9 [1024 hazards]"),
              ElementsAre(7, 9));
  EXPECT_THAT(named_lines("First entity: Global(0,0,0) At line 3 (column 5) of input.cl: Second entity: At line 5"),
              ElementsAre(3, 5));
  EXPECT_THAT(named_lines("race: ... wrote at line 29 with no barrier between, line 31; line 29"), ElementsAre(29, 31));
}

TEST(NamedLines, are_no_other_numbers) {
  EXPECT_THAT(named_lines("thread (3, 0, 0) of block 7, line unknown, byte 4 of a:5"), IsEmpty());
  EXPECT_THAT(named_lines("line 0, line -4, line 99999999999999999999, line "), IsEmpty());
}

}  // namespace
}  // namespace kw

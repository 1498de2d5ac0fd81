#include "verify/timing/disturbance.hpp"

#include <gtest/gtest.h>

namespace kw {
namespace {

TEST(WaitingShare, reads_what_the_system_says) {
  EXPECT_EQ(waiting_share_in("some avg10=37.50 avg60=99.70 avg300=99.25 total=16564950475\n"
                             "full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"),
            0.375);
  for (const char* other :
       {"", "full avg10=1.00", "some avg10=", "some avg10=-1", "some avg10=nan", "some avg10=101"}) {
    EXPECT_FALSE(waiting_share_in(other).has_value()) << other;
  }
}

}  // namespace
}  // namespace kw

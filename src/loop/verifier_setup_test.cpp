#include "loop/verifier_setup.hpp"

#include <gtest/gtest.h>

namespace kw {
namespace {

using std::chrono::seconds;

TEST(VerifierSetup, a_candidates_builds_take_a_quarter_of_the_run_at_most) {
  EXPECT_EQ(build_share(seconds(30), 80.0), seconds(20));
  EXPECT_EQ(build_share(seconds(30), 900.0), seconds(30)) << "never longer than usual";
  EXPECT_EQ(build_share(seconds(30), 4.0), seconds(15)) << "a busy machine still builds honest kernels";
  EXPECT_EQ(build_share(seconds(30), std::nullopt), seconds(30));
}

}  // namespace
}  // namespace kw

// In the model's seat: answers that give no kernel, or half of one.
#include <gmock/gmock.h>

#include "propose/testing/model_seat.hpp"

namespace kw {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* k_wrong_header = "[scratch]\nS = {type = \"f32\"}\n";

/// A kernel of some 6000 bytes.
std::string long_body() {
  std::string body = "O[0] = 77;";
  for (int i = 0; i < 200; ++i) body += fmt::format("\n  O[{}] = Q[{}] * {}.0f;", i, i, i);
  return body;
}

class BrokenReplyTest : public ModelSeat {
 protected:
  void wrong_result() {
    turn("O[0] = 55;", refused(GateId::check, Reason::wrong_result, "workload ragged: O is wrong"));
  }
};

TEST_F(BrokenReplyTest, shows_the_whole_kernel_and_what_is_still_wrong) {
  wrong_result();
  EXPECT_FALSE(say(fence(bundle(long_body(), k_wrong_header))));
  EXPECT_THAT(told(), AllOf(HasSubstr("The bundle's header could not be read"), HasSubstr(long_body())));
  EXPECT_THAT(told(), AllOf(HasSubstr("workload ragged: O is wrong"), HasSubstr("O[0] = 55;")));
  EXPECT_FALSE(say(fence("int main() { return 0; }\n" + long_body())));
  EXPECT_THAT(told(), AllOf(HasSubstr("The answer contains a host program"), HasSubstr(long_body())));
  EXPECT_THAT(told(), AllOf(HasSubstr("workload ragged: O is wrong"), HasSubstr("O[0] = 55;")));
}

TEST_F(BrokenReplyTest, says_what_was_found_of_a_kernel_that_is_sent_again) {
  wrong_result();
  EXPECT_FALSE(say(answer("O[0] = 55;")));
  EXPECT_EQ(turns_.back().fault, ReplyFault::repeated);
  EXPECT_THAT(told(), AllOf(HasSubstr("O[0] = 55;"), HasSubstr("workload ragged: O is wrong")));
}

TEST_F(BrokenReplyTest, forgets_what_was_wrong_once_a_kernel_is_right) {
  wrong_result();
  turn("O[0] = 56;", timed(10));
  EXPECT_FALSE(say(fence(bundle("O[0] = 57;", k_wrong_header))));
  EXPECT_THAT(told(), Not(HasSubstr("workload ragged: O is wrong")));
}

TEST_F(BrokenReplyTest, takes_a_corrected_header_alone) {
  EXPECT_FALSE(say(fence(bundle(long_body(), k_wrong_header))));
  EXPECT_THAT(told(), HasSubstr("corrected header alone"));
  const std::string whole = bundle(long_body());
  const auto repaired = say(fence(whole.substr(0, whole.find("*/") + 2) + "\n"));
  ASSERT_TRUE(repaired) << turns_.back().fault_message;
  EXPECT_THAT(repaired->candidate.bundle.source, HasSubstr(long_body()));
  (void)judge(*repaired, timed(10));
}

TEST_F(BrokenReplyTest, takes_a_header_for_a_kernel_that_had_none) {
  const std::string whole = bundle(long_body());
  const std::size_t source = whole.find("*/") + 3;
  EXPECT_FALSE(say(fence(whole.substr(source))));
  EXPECT_EQ(turns_.back().fault, ReplyFault::no_header);
  const auto repaired = say(fence(whole.substr(0, source)));
  ASSERT_TRUE(repaired) << turns_.back().fault_message;
  EXPECT_EQ(repaired->candidate.bundle.source, whole.substr(source));
}

}  // namespace
}  // namespace kw

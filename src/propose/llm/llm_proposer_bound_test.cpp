// In the model's seat: the bound that the peaks allow.
#include <gmock/gmock.h>

#include "propose/testing/model_seat.hpp"

namespace kw {
namespace {

using testing::HasSubstr;
using testing::Not;

class BoundTest : public ModelSeat {
 protected:
  void SetUp() override {
    device_.peak_f32_flops = 5e11;
    device_.peak_bytes = 2e10;
  }
  /// What the prompt says no kernel takes less than.
  std::string bound() {
    const std::string text = told();
    const std::string mark = "no kernel takes less than ";
    const std::size_t at = text.find(mark);
    EXPECT_NE(at, std::string::npos);
    return text.substr(at + mark.size(), text.find(',', at) - at - mark.size());
  }
};

TEST_F(BoundTest, does_not_move_between_prompts) {
  const std::string first = bound();
  turn("O[0] = 1;", timed(10));
  EXPECT_EQ(bound(), first);
  EXPECT_THAT(told(), Not(HasSubstr("Earlier prompts said")));
}

TEST_F(BoundTest, moves_with_the_reason_when_a_kernel_was_faster_than_the_peaks) {
  const std::string first = bound();
  turn("O[0] = 1;", [this](Attempt& attempt) {
    timed(10)(attempt);
    device_.peak_f32_flops *= 2;
  });
  EXPECT_NE(bound(), first);
  EXPECT_THAT(told(), HasSubstr("Earlier prompts said " + first +
                                ": then a kernel was faster than the peaks of that time allow, and they were measured "
                                "again."));
  turn("O[0] = 2;", timed(9, 1.1));
  EXPECT_THAT(told(), HasSubstr("Earlier prompts said " + first)) << "it stays said";
}

}  // namespace
}  // namespace kw

// In the model's seat: what the machine code of a kernel says of it, and the advice that follows.
#include <gmock/gmock.h>

#include "propose/testing/model_seat.hpp"

namespace kw {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Vectors as wide as the device's, few loads, nothing spilled: there is nothing to advise about.
InstructionMix good_code() {
  return {"k", true, 100, 60, 0, 512, 10, 0, 0, {}};
}

class MachineCodeTest : public ModelSeat {
 protected:
  /// What is told after a right kernel with this code. Its source has tunables, so that they are not what is missing.
  std::string told_of(const InstructionMix& code, const std::string& body = "O[0] = 1;") {
    const auto proposal = say(answer(body));
    EXPECT_TRUE(proposal);
    if (proposal) {
      (void)judge(*proposal, [&](Attempt& attempt) {
        timed(10)(attempt);
        attempt.build.machine_code = {code};
      });
    }
    return told();
  }
};

TEST_F(MachineCodeTest, is_shown_with_its_figures) {
  InstructionMix code = good_code();
  code.calls = 2;
  code.called = {"expf"};
  EXPECT_THAT(
      told_of(code),
      HasSubstr("* Machine code of k, the innermost loop with the most arithmetic, as it stands: 100 instructions; "
                "60 compute with vectors of up to 512 bits, 0 with single floats; 10 load or store, 0 more access "
                "the stack, 2 call functions (expf)."));
}

TEST_F(MachineCodeTest, that_spills_is_advised_to_hold_less) {
  InstructionMix code = good_code();
  code.stack_accesses = 20;
  EXPECT_THAT(told_of(code), HasSubstr("One step, and only this one: registers are spilled (20 accesses of the stack "
                                       "beside 60 arithmetic instructions in the inner loop of k)."));
}

TEST_F(MachineCodeTest, that_calls_is_advised_to_write_it_out) {
  InstructionMix code = good_code();
  code.calls = 1;
  code.called = {"expf"};
  EXPECT_THAT(told_of(code),
              HasSubstr("functions are called in the inner loop (1 calls (expf) in the inner loop of k)"));
}

TEST_F(MachineCodeTest, of_vectors_is_not_advised_to_use_vectors_whatever_the_source_says) {
  EXPECT_THAT(told_of(good_code(), "O[0] = 1;"), Not(HasSubstr("computes with less than")));
}

TEST_F(MachineCodeTest, of_single_floats_is_advised_to_use_vectors_whatever_the_source_says) {
  InstructionMix code = good_code();
  code.vector_floats = 4;
  code.scalar_floats = 56;
  EXPECT_THAT(told_of(code, "float16 x = 1; O[0] = x.s0;"),
              HasSubstr("the kernel computes with less than the 16 floats at a time that the device can (56 arithmetic "
                        "instructions on single floats and 4 on vectors in the inner loop of k)"));
}

TEST_F(MachineCodeTest, of_narrow_vectors_is_advised_to_use_wider_ones) {
  InstructionMix code = good_code();
  code.vector_bits = 128;
  EXPECT_THAT(told_of(code), HasSubstr("(vectors of 128 bits in the inner loop of k, the device has 512)"));
}

TEST_F(MachineCodeTest, that_loads_much_is_advised_to_block_registers) {
  device_.peak_f32_flops = 5e11;
  device_.peak_bytes = 1e12;
  InstructionMix code = good_code();
  code.loads_stores = 40;
  const auto proposal = say("Analysis: slow.\n\n```c\n" +
                            bundle("O[0] = T;", "[tunables]\nT = {values = [1, 2], default = 1}\n") + "```\n");
  ASSERT_TRUE(proposal);
  (void)judge(*proposal, [&](Attempt& attempt) {
    timed(10)(attempt);
    attempt.measurement->roofline_fraction = 0.1;
    attempt.build.machine_code = {code};
  });
  EXPECT_THAT(told(), HasSubstr("10 % of the roofline bound; 40 loads and stores for 60 arithmetic instructions in the "
                                "inner loop of k"));
}

}  // namespace
}  // namespace kw

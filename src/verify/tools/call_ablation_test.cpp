// Which part of the time calls of built-in functions take, and when it is asked for.

#include "verify/tools/call_ablation.hpp"

#include <gmock/gmock.h>

#include "verify/local_verifier.hpp"
#include "verify/testing/fake_backend.hpp"
#include "verify/testing/test_problem.hpp"

namespace kw {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(ReplaceableCalls, are_whole_names_that_are_called) {
  EXPECT_THAT(replaceable_calls("y = exp2 (x) + tanh(z);"), ElementsAre("exp2", "tanh"));
  EXPECT_THAT(replaceable_calls("y = my_exp(x) + exp_of(x) + exp; // not called"), IsEmpty());
  EXPECT_THAT(replaceable_calls("exp"), IsEmpty());
}

TEST(ReplaceableCalls, have_several_accuracies) {
  EXPECT_THAT(replaceable_calls("native_exp2(x) * half_rsqrt(y)"), ElementsAre("native_exp2", "half_rsqrt"));
}

TEST(ReplaceableCalls, are_replaced_for_every_width_of_vectors) {
  const std::string text = stand_ins_for({"native_exp", "powr"});
  for (const char* const part :
       {"static inline float __attribute__((overloadable)) kw_rough_native_exp(float x) { return as_float(convert_int(",
        "static inline float16 __attribute__((overloadable)) kw_rough_native_exp(float16 x) { return as_float16(",
        "kw_rough_powr(float4 x, float4 y) { return x * y; }",
        "#undef native_exp\n#define native_exp(x) kw_rough_native_exp(x)\n",
        "#undef powr\n#define powr(x, y) kw_rough_powr(x, y)\n"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

/// A kernel takes 10 ms, and as much of it as a test says without its calls.
class CallAblationTest : public testing::Test {
 protected:
  VerifyResult judged(const std::string& source) {
    VerifierOptions options;
    options.secret_seed = 7;
    options.device = backend.device();
    options.plain = small_candidate("plain");
    options.count_accesses = is_read;
    auto opened = LocalVerifier::open(problem, backend, clock, std::move(options));
    EXPECT_TRUE(opened) << opened.error().to_string();
    clock.advance(std::chrono::minutes(5));  // what is for readers may take a tenth of the time since the opening
    builds_before = backend.builds();
    return (*opened)->verify(small_candidate(source));
  }
  static FakeKernel kernel_of(double ns, FakeBehaviour behaviour = FakeBehaviour::honest) {
    FakeKernel kernel;
    kernel.behaviour = behaviour;
    kernel.time_ns = ns;
    return kernel;
  }
  static std::vector<std::string> notes_of(const VerifyResult& result) {
    std::vector<std::string> notes;
    for (const Evidence& one : result.verdict.evidence) {
      if (one.gate == GateId::profile) notes.push_back(one.text);
    }
    return notes;
  }

  Problem problem = small_problem();
  FakeClock clock;
  bool is_read = true;
  FakeKernel without = kernel_of(7e6, FakeBehaviour::writes_zeros);  // its answer is not looked at
  int builds_before = 0;
  FakeBackend backend{problem, clock, [this](const BuildRequest& request) {
                        if (request.source.find("#define ") != std::string::npos) return without;
                        return kernel_of(written_source(request) == "plain" ? 60e6 : 10e6);
                      }};
};

TEST_F(CallAblationTest, says_what_calls_cost) {
  const VerifyResult result = judged("exp(x) tanh(x)");
  ASSERT_TRUE(result.verdict.accepted()) << result.verdict.message;
  EXPECT_THAT(
      notes_of(result),
      Contains("with rough stand-ins of a few instructions for its calls of exp, tanh, a launch takes 7 ms, and "
               "10 ms as it is: so much could be saved by writing them out"));
}

TEST_F(CallAblationTest, says_that_calls_cost_little) {
  without.time_ns = 9.9e6;
  EXPECT_THAT(notes_of(judged("exp(x)")),
              Contains("with rough stand-ins of a few instructions for its calls of exp, a launch takes as long as "
                       "before, within 3 %"));
}

TEST_F(CallAblationTest, builds_nothing_where_nothing_is_called) {
  EXPECT_THAT(notes_of(judged("x * x")), Not(Contains(HasSubstr("its calls"))));
  EXPECT_EQ(backend.builds(), builds_before + 1);
}

TEST_F(CallAblationTest, builds_nothing_where_nobody_reads_it) {
  is_read = false;
  EXPECT_THAT(notes_of(judged("exp(x)")), Not(Contains(HasSubstr("its calls"))));
  EXPECT_EQ(backend.builds(), builds_before + 1);
}

TEST_F(CallAblationTest, is_left_to_counters_on_a_gpu) {
  backend.mutable_device().kind = DeviceKind::gpu;
  EXPECT_THAT(notes_of(judged("exp(x)")), Not(Contains(HasSubstr("its calls"))));
}

TEST_F(CallAblationTest, that_fails_rejects_nothing) {
  without.build = BuildStatus::source_error;
  const VerifyResult unbuilt = judged("exp(x)");
  EXPECT_TRUE(unbuilt.verdict.accepted());
  EXPECT_THAT(notes_of(unbuilt),
              Contains("what its calls cost is not known: it does not compile with stand-ins for them"));
}

TEST_F(CallAblationTest, that_crashes_rejects_nothing) {
  without.behaviour = FakeBehaviour::crashes;
  const VerifyResult crashed = judged("exp(x)");
  EXPECT_TRUE(crashed.verdict.accepted());
  EXPECT_THAT(notes_of(crashed), Contains(HasSubstr("what its calls cost is not known: ")));
}

}  // namespace
}  // namespace kw

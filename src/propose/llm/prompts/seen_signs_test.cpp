#include "propose/llm/prompts/seen_signs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file_system.hpp"
#include "codegen/testing/devices.hpp"

namespace kw {
namespace {

using testing::HasSubstr;
using testing::Not;

class SeenSignsTest : public testing::Test {
 protected:
  SeenSignsTest() {
    context.problem = &problem;
    context.target = "opencl";
    context.device = avx512_device();
    context.device.peak_f32_flops = 5.1e11;
    context.device.peak_bytes = 3.2e10;
    Bundle bundle;
    bundle.target = "opencl";
    bundle.launches = {{"k", {"ceil_div(Sq, 4)", "Hq", "B"}, {"1", "1", "1"}, "0", {"Q", "K", "V", "O", "Sq"}}};
    bundle.source = "float16 a = vload16(0, K); my_exp2(a); exp2(a); tanh(a); native_exp(a);";
    kernel.candidate = make_candidate(bundle).value();
    kernel.measurement.emplace().median_ns = 10e6;
    kernel.measurement->roofline_fraction = 0.4;
    kernel.build.registers = 96;
    kernel.build.machine_code = {{"k", true, 100, 50, 0, 256, 40, 5, 2, {}}};
  }
  /// Reads of global memory in eight times the sectors needed, and writes with conflicts of banks.
  static SimulatedAccesses counted_accesses() {
    SimulatedAccesses accesses;
    accesses.lines = {{"k", 3, false, false, 10, 5, 240, 320, 40},
                      {"k", 7, true, true, 10, 0, 320, 30, 20},
                      {"k", 2, false, false, 8, 2, 256, 0, 0}};  // branches
    return accesses;
  }

  Problem problem = load_problem("attention/softcap", RealFileSystem{}, {"problems"}).value();
  PromptContext context;
  Attempt kernel;
};

TEST_F(SeenSignsTest, counts_whole_words_of_the_source) {
  const Signs signs = signs_of(context, &kernel);
  EXPECT_EQ(signs.at("calls_exp"), 2);
  EXPECT_EQ(signs.at("calls_tanh"), 1);
  EXPECT_EQ(signs.at("vector_types"), 2);
  EXPECT_EQ(signs.at("calls_round"), 0);
}

TEST_F(SeenSignsTest, knows_problem_plan_and_measurement) {
  const Signs signs = signs_of(context, &kernel);
  EXPECT_EQ(signs.at("axis_Sq"), static_cast<double>(problem.primary().axes.at("Sq")));
  EXPECT_EQ(signs.at("masked"), 0);
  EXPECT_EQ(signs.at("narrow_inputs"), 0);
  EXPECT_EQ(signs.at("registers"), 96);
  EXPECT_EQ(signs.at("launches"), 1);
  EXPECT_EQ(signs.at("scratch_share"), 0);
  EXPECT_NEAR(signs.at("bound_share"), 0.4, 1e-9);
  EXPECT_EQ(signs.count("spill_bytes"), 0U) << "the compiler did not say";
  EXPECT_EQ(signs.count("cuda_arch"), 0U);
}

TEST_F(SeenSignsTest, knows_what_was_counted_in_machine_code_accesses_and_samples) {
  kernel.accesses = counted_accesses();
  kernel.measurement->counters.emplace().stalls = {{"long_scoreboard", 0.3}, {"lg_throttle", 0.2}, {"barrier", 0.1}};
  const Signs signs = signs_of(context, &kernel);
  EXPECT_NEAR(signs.at("loop_loads"), 0.8, 1e-9);
  EXPECT_NEAR(signs.at("loop_stack"), 0.1, 1e-9);
  EXPECT_EQ(signs.at("loop_calls"), 2);
  EXPECT_EQ(signs.at("loop_vector_bits"), 256);
  EXPECT_NEAR(signs.at("sector_excess"), 8, 1e-9);
  EXPECT_NEAR(signs.at("bank_excess"), 1.5, 1e-9);
  EXPECT_NEAR(signs.at("lane_share"), 560.0 / 640, 1e-9);
  EXPECT_NEAR(signs.at("divergent_share"), 0.25, 1e-9);
  EXPECT_NEAR(signs.at("wait_global"), 0.5, 1e-9);
  EXPECT_NEAR(signs.at("wait_barrier"), 0.1, 1e-9);
  EXPECT_EQ(signs.at("wait_shared"), 0);
}

TEST_F(SeenSignsTest, are_unknown_where_nothing_was_counted) {
  kernel.measurement->counters.emplace();
  kernel.build.machine_code.clear();
  const Signs signs = signs_of(context, &kernel);
  for (const char* name :
       {"loop_loads", "sector_excess", "bank_excess", "lane_share", "divergent_share", "wait_global"}) {
    EXPECT_EQ(signs.count(name), 0U) << name;
  }
}

TEST_F(SeenSignsTest, every_sign_has_a_meaning) {
  context.device.gpu.emplace().arch = "sm_90a";
  kernel.measurement->counters.emplace() = {"ncu", "k", 1.0, 1.0, 1.0, 0.5, 0.5, 0.5,
                                            0.5,   0.5, 96,  {},  {},  2.0, 0.1, 0.1};
  kernel.build.spill_bytes = kernel.build.shared_bytes = kernel.build.tensor_core_instructions = 0;
  kernel.build.occupancy = 0.5;
  kernel.accesses = counted_accesses();
  kernel.measurement->counters->stalls = {{"barrier", 0.1}};
  const Signs signs = signs_of(context, &kernel);
  for (const auto& [name, value] : signs) EXPECT_NE(sign_meaning(name), "") << name;
  for (std::string names = sign_names() + ","; !names.empty(); names.erase(0, names.find(',') + 2)) {
    const std::string name = names.substr(0, names.find(','));
    EXPECT_TRUE(name == "axis_NAME" || signs.count(name) == 1) << name << " is never seen";
    if (names.find(',') + 2 > names.size()) break;
  }
  EXPECT_EQ(signs.at("cuda_arch"), 90);
}

TEST_F(SeenSignsTest, two_notes_that_fit_are_shown_with_what_was_seen) {
  const std::string text = notes_text(context, &kernel);
  EXPECT_THAT(text, HasSubstr("## At least twelve accumulators in registers: 2.6 times as fast where it was measured"));
  EXPECT_THAT(text,
              HasSubstr("## tanh as a rational form: 1.18 times as fast where it was measured\n\nSeen here: calls "
                        "of a built-in tanh in the source: 1.\n"));
  EXPECT_THAT(text, Not(HasSubstr("## exp2 as a polynomial"))) << "it gave less than the two";
  EXPECT_THAT(text, Not(HasSubstr("docs/results")));
  context.parts.notes = false;
  EXPECT_EQ(notes_text(context, &kernel), "");
}

TEST_F(SeenSignsTest, without_a_kernel_notes_about_kernels_do_not_fit) {
  EXPECT_EQ(notes_text(context, nullptr), "");
}

}  // namespace
}  // namespace kw

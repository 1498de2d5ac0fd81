// What every prompt says of the device: the bound for the type that is computed in, and what is known of the target.
#include "propose/llm/prompts/task_text.hpp"

#include <gmock/gmock.h>

#include "base/file_system.hpp"
#include "codegen/testing/devices.hpp"
#include "problem/operator.hpp"

namespace kw {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

DeviceFacts gpu_with_tensor_cores() {
  DeviceFacts device = avx512_device();
  device.target = "cuda";
  device.kind = DeviceKind::gpu;
  device.peak_f32_flops = 6e13;
  device.peak_bytes = 4e12;
  device.gpu.emplace();
  device.gpu->peak_f16_flops = 1e15;
  return device;
}

class TaskTextTest : public testing::Test {
 protected:
  void take(const std::string& name, DeviceFacts device) {
    problem_ = load_problem("attention/" + name, RealFileSystem{}, {"problems"}).value();
    context_.problem = &problem_;
    context_.target = device.target;
    context_.device = std::move(device);
  }
  Problem problem_;
  PromptContext context_;
};

TEST_F(TaskTextTest, bounds_an_f32_problem_by_f32_arithmetic) {
  take("causal", gpu_with_tensor_cores());
  const WorkloadCost work = timed_work(context_);
  const auto bound = peak_times(context_);
  ASSERT_TRUE(bound);
  EXPECT_DOUBLE_EQ(bound->arithmetic_ns, 1e9 * work.flops / 6e13);
  EXPECT_THAT(task_text(context_), HasSubstr("and arithmetic is the limit."));
  take("causal_f16", gpu_with_tensor_cores());
  EXPECT_DOUBLE_EQ(peak_times(context_)->arithmetic_ns, 1e9 * timed_work(context_).flops / 1e15);
}

TEST_F(TaskTextTest, says_a_share_of_that_bound) {
  take("causal", gpu_with_tensor_cores());
  Measurement measured;
  measured.median_ns = 1e6;
  EXPECT_FALSE(bound_share(context_, measured)) << "nothing was measured against it";
  measured.roofline_fraction = 0.01;  // by the verifier, which grants tf32
  EXPECT_NEAR(*bound_share(context_, measured), 0.01 * 5e14 / 6e13, 1e-6);
  take("causal_f16", gpu_with_tensor_cores());
  EXPECT_NEAR(*bound_share(context_, measured), 0.01, 1e-12);
}

TEST_F(TaskTextTest, explains_the_distributions_that_findings_name) {
  take("causal", avx512_device());
  for (const char* words : {"*normal*;", "*uniform* in [0, 1);", "*spikes*,", "*late*,"}) {
    EXPECT_THAT(task_text(context_), HasSubstr(words));
  }
}

TEST_F(TaskTextTest, explains_the_distributions_of_each_operator) {
  for (const std::string& name : operator_names()) {
    const Operator& one = *find_operator(name);
    for (const OwnDistribution& own : one.checks.distributions()) {
      const std::string text =
          shipped_prompt_templates().render(operator_template(name, "distributions"), {{std::string(own.name), "yes"}});
      EXPECT_THAT(text, StartsWith(fmt::format("*{}*, ", own.name))) << name;
      EXPECT_GT(text.size(), own.name.size() + 10) << name;
    }
  }
  take("causal", avx512_device());
  EXPECT_THAT(task_text(context_), HasSubstr("*offset*, all elements of a row moved alike"));
}

TEST_F(TaskTextTest, names_the_workloads_that_findings_name) {
  take("causal", avx512_device());
  const std::string text = task_text(context_);
  for (const Workload& workload : problem_.workloads) {
    const std::string name = "*" + workload.name + "*";
    if (workload.role == WorkloadRole::held_out) {
      EXPECT_THAT(text, Not(HasSubstr(name)));
    } else {
      EXPECT_THAT(text, HasSubstr(name));
    }
  }
}

TEST_F(TaskTextTest, says_whether_times_will_come) {
  DeviceFacts device = gpu_with_tensor_cores();
  take("causal", device);
  EXPECT_THAT(task_text(context_), Not(HasSubstr("no times")));
  device.kind = DeviceKind::simulator;
  take("causal", device);
  EXPECT_THAT(task_text(context_), HasSubstr("The device is a simulator: kernels are checked there, and no times are "
                                             "measured."));
}

TEST_F(TaskTextTest, shows_how_scratch_and_two_dimensions_are_declared) {
  take("causal", avx512_device());
  EXPECT_THAT(contract_text(context_), HasSubstr("KT = {dtype = \"f32\", elements = "));
  EXPECT_THAT(contract_text(context_), HasSubstr("block = [16, 8]"));
}

TEST_F(TaskTextTest, warns_of_slow_built_ins_where_they_were_measured) {
  take("causal", avx512_device());
  EXPECT_THAT(contract_text(context_), HasSubstr("`exp2` and `tanh` of vectors"));
  take("causal", gpu_with_tensor_cores());
  EXPECT_THAT(contract_text(context_), Not(HasSubstr("`exp2` and `tanh` of vectors")));
}

}  // namespace
}  // namespace kw

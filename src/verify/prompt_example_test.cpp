// The OpenCL example that models are shown compiles and computes what it says, at a size that is no multiple of its
// tile.

#include <cmath>

#include "record/bundle.hpp"
#include "record/launch_plan.hpp"
#include "verify/workbench_fixture.hpp"

namespace kw {
namespace {

using namespace workbench_test;  // NOLINT: a test's own vocabulary

class PromptExample : public WorkbenchTest {
 protected:
  static void SetUpTestSuite() {
    if (std::ifstream("/etc/OpenCL/vendors/pocl.icd")) open("opencl:0");
  }
  void SetUp() override {
    if (bench_ == nullptr) GTEST_SKIP() << "SKIP: no OpenCL driver is installed (apt-get install pocl-opencl-icd)";
  }
};

Bundle shown_example() {
  std::ifstream file("prompts/example_opencl.md");
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const std::size_t first = text.find("/*kernelwright");
  const std::size_t last = text.find("```\n", first);
  auto bundle = parse_bundle(text.substr(first, last - first), "example_opencl.md");
  KW_CHECK(bundle.has_value(), "{}", bundle.error().to_string());
  return *std::move(bundle);
}

TEST_F(PromptExample, normalises_rows) {
  constexpr std::int64_t k_rows = 7;
  constexpr std::int64_t k_length = 13;
  Problem problem;
  problem.inputs = {{"X", DType::f32, {"R", "C"}}};
  problem.outputs = {{"Y", DType::f32, {"R", "C"}}};
  const Axes axes{{"R", k_rows}, {"C", k_length}};
  const auto candidate = make_candidate(shown_example());
  ASSERT_TRUE(candidate) << candidate.error().to_string();
  const auto plan = plan_launches(*candidate, problem, axes, bench_->device());
  ASSERT_TRUE(plan) << plan.error().to_string();
  const auto definitions = build_definitions(*candidate, axes, bench_->device());
  ASSERT_TRUE(definitions) << definitions.error().to_string();
  BuildRequest request{"", candidate->bundle.source, {}, plan->launches};
  request.definitions.assign(definitions->begin(), definitions->end());
  const auto answer = bench_->build(request, k_ample);
  const auto* built = std::get_if<BuildReply>(&answer);
  ASSERT_NE(built, nullptr);
  ASSERT_EQ(built->status, BuildStatus::ok) << built->log;
  auto started = bench_->start({{built->binary}, {{*plan, 0}}}, k_ample);
  auto* process = std::get_if<std::unique_ptr<KernelProcess>>(&started);
  ASSERT_NE(process, nullptr);
  for (std::size_t i = 0; i < k_rows * k_length; ++i) floats((*process)->buffer(0))[i] = 0.5F + static_cast<float>(i);
  ASSERT_EQ(fate((*process)->launch(false, k_ample)), "ran");
  for (std::size_t r = 0; r < k_rows; ++r) {
    double squares = 0;
    for (std::size_t c = 0; c < k_length; ++c) squares += std::pow(0.5 + static_cast<double>(r * k_length + c), 2);
    const double scale = 1 / std::sqrt(squares / k_length);
    for (std::size_t c = 0; c < k_length; ++c) {
      const std::size_t i = r * k_length + c;
      ASSERT_NEAR(floats((*process)->buffer(1))[i], (0.5 + static_cast<double>(i)) * scale, 1e-5) << i;
    }
  }
}

}  // namespace
}  // namespace kw

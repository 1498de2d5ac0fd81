// The examples that models are shown compile and compute what they say, at a size that is no multiple of their tiles:
// OpenCL on the machine's device, CUDA and HIP on the simulator.

#include <cmath>
#include <fstream>
#include <iterator>

#include "record/bundle.hpp"
#include "record/launch_plan.hpp"
#include "verify/testing/backend_fixture.hpp"

namespace kw {
namespace {

using namespace backend_test;  // NOLINT: a test's own vocabulary

class PromptExample : public BackendTest {
 protected:
  static void SetUpTestSuite() {
    if (std::ifstream("/etc/OpenCL/vendors/pocl.icd")) open("opencl:0");
  }
  void SetUp() override {
    if (backend_ == nullptr) GTEST_SKIP() << "SKIP: no OpenCL driver is installed (apt-get install pocl-opencl-icd)";
  }
};

Bundle shown_example(const std::string& target) {
  const std::string name = "example_" + target + ".md";
  std::ifstream file("prompts/" + name);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const std::size_t first = text.find("/*kernelwright");
  const std::size_t last = text.find("```\n", first);
  auto bundle = parse_bundle(text.substr(first, last - first), name);
  KW_CHECK(bundle.has_value(), "{}", bundle.error().to_string());
  return *std::move(bundle);
}

void expect_normalised_rows(ExecutionBackend& backend, const std::string& target) {
  constexpr std::int64_t k_rows = 7;
  constexpr std::int64_t k_length = 13;
  Problem problem;
  problem.inputs = {{"X", DType::f32, {"R", "C"}}};
  problem.outputs = {{"Y", DType::f32, {"R", "C"}}};
  const Axes axes{{"R", k_rows}, {"C", k_length}};
  const auto candidate = make_candidate(shown_example(target));
  ASSERT_TRUE(candidate) << candidate.error().to_string();
  const auto plan = plan_launches(*candidate, problem, axes, backend.device());
  ASSERT_TRUE(plan) << plan.error().to_string();
  const auto definitions = build_definitions(*candidate, axes, backend.device());
  ASSERT_TRUE(definitions) << definitions.error().to_string();
  BuildRequest request{"", candidate->bundle.source, {}, plan->launches};
  request.definitions.assign(definitions->begin(), definitions->end());
  const auto answer = backend.build(request, k_ample, SourceOrigin::foreign);
  const auto* built = std::get_if<BuildReply>(&answer);
  ASSERT_NE(built, nullptr);
  ASSERT_EQ(built->status, BuildStatus::ok) << built->log;
  auto started = backend.start({{built->binary}, {{*plan, 0}}}, k_ample);
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

TEST_F(PromptExample, of_opencl_normalises_rows) {
  expect_normalised_rows(*backend_, "opencl");
}

TEST(PromptExamples, of_cuda_and_hip_normalise_rows_on_the_simulator) {
  for (const auto& [target, device] :
       {std::pair{"cuda", "sim"}, std::pair{"hip", "sim:gfx942"}, std::pair{"hip", "sim:gfx1100"}}) {
    SCOPED_TRACE(device);
    BackendOptions options;
    options.device_id = device;
    const auto backend = open_process_backend(options);
    ASSERT_TRUE(backend) << backend.error().to_string();
    expect_normalised_rows(**backend, target);
  }
}

}  // namespace
}  // namespace kw

// The styles of HIP against the oracle, through the whole verifier, on the simulator: with wavefronts of 64 and of 32
// lanes. One problem has bounds for each row, another is classified by a map; one is in f16 with captures.

#include <gtest/gtest.h>

#include "base/file_system.hpp"
#include "codegen/codegen.hpp"
#include "loop/threads.hpp"
#include "loop/verifier_setup.hpp"
#include "verify/local_verifier.hpp"
#include "verify/processes/process_backend.hpp"

namespace kw {
namespace {

struct SimulatedCase {
  const char* problem;
  const char* device;
  std::int64_t lanes;
};

void PrintTo(const SimulatedCase& one, std::ostream* out) {
  *out << one.problem << " on " << one.device;
}

/// One tile and a piece of another, so that a minute is enough for all of this.
Problem small(const std::string& name) {
  Problem problem = load_problem("problems/attention/" + name + ".toml", RealFileSystem(), {}).value();
  problem = with_axes(std::move(problem), {"Hkv=1", "Hq=1", "B=1", "Sq=48", "Skv=48"}).value();
  problem.workloads.resize(1);
  return problem;
}

class HipStyles : public ::testing::TestWithParam<SimulatedCase> {};

TEST_P(HipStyles, agree_with_the_oracle_whatever_the_wavefront) {
  const Problem problem = small(GetParam().problem);
  BackendOptions at;
  at.device_id = GetParam().device;
  at.target = "hip";
  const auto bench = open_process_backend(at);
  ASSERT_TRUE(bench) << bench.error().to_string();
  const DeviceFacts& device = (*bench)->device();
  EXPECT_EQ(device.gpu->warp_size, GetParam().lanes);
  auto options = verifier_options(problem, "hip", device, parallel_for(usable_processors()), {});
  ASSERT_TRUE(options) << options.error().to_string();
  options->secret_seed = 20261120;
  const SteadyClock clock;
  const auto verifier = LocalVerifier::open(problem, **bench, clock, *std::move(options));
  ASSERT_TRUE(verifier) << verifier.error().to_string();
  for (const Style& style : styles_of("attention")) {
    if (style.target != "hip") continue;
    const Bundle bundle = style.emit(problem, device, {}).value();
    const VerifyResult result = (*verifier)->verify(make_candidate(bundle).value());
    EXPECT_TRUE(result.verdict.accepted()) << style.name << ": " << result.verdict.message << "\n"
                                           << result.build.log << bundle.to_text();
  }
}

INSTANTIATE_TEST_SUITE_P(Simulated, HipStyles,
                         ::testing::Values(SimulatedCase{"alibi_causal", "sim", 64},
                                           SimulatedCase{"alibi_causal", "sim:gfx1100", 32},
                                           SimulatedCase{"document_causal_f16", "sim:gfx942", 64},
                                           SimulatedCase{"neighborhood_2d", "sim:gfx1100", 32},
                                           SimulatedCase{"additive_mask_finite", "sim:gfx942", 64}),
                         [](const auto& one) {
                           return std::string(one.param.problem) + "_" + std::to_string(one.param.lanes);
                         });

}  // namespace
}  // namespace kw

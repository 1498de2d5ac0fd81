#include "loop/verifier_setup.hpp"

#include <sys/random.h>

#include <utility>

#include "codegen/codegen.hpp"

namespace kw {
namespace {

/// A simulator is slower by some thousands; what is left to catch is a kernel that never ends.
constexpr VerifyDeadlines k_simulator_deadlines{std::chrono::seconds(60), std::chrono::seconds(20),
                                                std::chrono::seconds(60), std::chrono::seconds(60)};
/// One core simulates 5e7 to 7e7 useful FLOPs per second (docs/cuda.md): a launch takes about one of it.
constexpr double k_most_simulated_flops = 6e7;

}  // namespace

std::uint64_t secret_seed() {
  std::uint64_t seed = 0;
  KW_CHECK(getrandom(&seed, sizeof seed, 0) == static_cast<ssize_t>(sizeof seed), "no randomness");
  return seed;
}

Result<VerifierOptions> verifier_options(const Problem& problem, const std::string& target, DeviceFacts device,
                                         ParallelFor parallel, VerifierTools tools) {
  VerifierOptions options;
  options.secret_seed = secret_seed();
  options.device = std::move(device);
  options.parallel = std::move(parallel);
  options.tools = std::move(tools);
  const bool simulated = options.device.kind == DeviceKind::simulator;
  if (simulated) {
    options.deadlines = k_simulator_deadlines;
    options.suite.workload_flops = k_most_simulated_flops;
  }
  auto plain = emit_bundle(problem, target, "plain", options.device);
  if (!plain && simulated && plain.error().code == errc::codegen_style) return options;
  if (!plain) return fail(std::move(plain).error());
  KW_TRY(options.plain, make_candidate(*std::move(plain)));
  return options;
}

}  // namespace kw

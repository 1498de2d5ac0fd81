#include "loop/verifier_setup.hpp"

#include <sys/random.h>

#include <algorithm>
#include <utility>

#include "codegen/codegen.hpp"

namespace kw {
namespace {

/// A simulator is slower by some thousands; what is left to catch is a kernel that never ends.
constexpr VerifyDeadlines k_simulator_deadlines{std::chrono::seconds(60), std::chrono::seconds(20),
                                                std::chrono::seconds(60), std::chrono::seconds(60)};
/// One core simulates 5e7 to 7e7 useful FLOPs per second (docs/cuda.md): a launch takes about one of it.
constexpr double k_most_simulated_flops = 6e7;
/// A plain kernel does some 4e9 steps a second on a CPU and 5e11 to 3e12 on a GPU (docs/results/): above these, a
/// launch of it takes a tenth of a second or a few hundredths. A rule by sizes, because one by times would depend on
/// what else the machine does.
constexpr double k_quick_steps_on_cpu = 4e8;
constexpr double k_quick_steps_on_gpu = 4e10;

/// The plainest style but `plain` that writes the problem: of the faster ones, the one whose arithmetic is nearest.
std::optional<Candidate> reference_for(const Problem& problem, const std::string& target, const DeviceFacts& device) {
  for (const Style& style : styles_of(problem.op)) {
    if (style.target != target || style.name == "plain") continue;
    auto bundle = emit_bundle(problem, target, style.name, device);
    auto candidate =
        bundle ? make_candidate(*std::move(bundle), {}, SourceOrigin::own) : fail(std::move(bundle).error());
    if (candidate) return *std::move(candidate);
  }
  return std::nullopt;
}

/// A cold launch reads at some 5e9 bytes a second what a warm one has in the cache: where a plain kernel computes for
/// a hundred times as long, and for 25 ms at least, that is not seen.
bool cold_cache_is_nothing(const WorkloadCosts& costs, const DeviceFacts& device) {
  constexpr double k_least_steps = 1e8, k_steps_per_byte = 80;
  const WorkloadCost& primary = costs.of(0);
  return device.kind == DeviceKind::cpu && primary.steps >= std::max(k_least_steps, k_steps_per_byte * primary.bytes);
}

bool plain_takes_long(const WorkloadCosts& costs, const DeviceFacts& device) {
  return costs.of(0).steps > (device.kind == DeviceKind::cpu ? k_quick_steps_on_cpu : k_quick_steps_on_gpu);
}

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
  KW_TRY(options.plain, make_candidate(*std::move(plain), {}, SourceOrigin::own));
  options.costs = std::make_shared<WorkloadCosts>(problem);
  if (!simulated && plain_takes_long(*options.costs, options.device)) {
    options.reference = reference_for(problem, target, options.device);
  }
  options.plain_is_timed_by_checks = !simulated && cold_cache_is_nothing(*options.costs, options.device);
  return options;
}

Duration build_share(Duration usual, std::optional<double> wall_seconds) {
  constexpr Duration k_least = std::chrono::seconds(15);
  if (!wall_seconds) return usual;
  return std::min(usual, std::max<Duration>(from_seconds(*wall_seconds / 4), k_least));
}

Result<void> require_sanitizer(std::span<const Requirement> requirements, const VerifierTools& tools,
                               const DeviceFacts& device, const std::string& target) {
  const bool required = std::ranges::any_of(requirements, needs_sanitizer);
  if (!required || !tools.sanitizers.empty() || device.kind == DeviceKind::simulator) return {};
  return fail(Error{errc::requirement_unchecked,
                    fmt::format("'sanitized' cannot be checked: this machine has no sanitizer for {}", target),
                    "install one, as `kernelwright doctor` says, or leave the requirement out"});
}

}  // namespace kw

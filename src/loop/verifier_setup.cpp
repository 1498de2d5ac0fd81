#include "loop/verifier_setup.hpp"

#include <sys/random.h>

#include <utility>

#include "codegen/codegen.hpp"

namespace kw {

std::uint64_t secret_seed() {
  std::uint64_t seed = 0;
  KW_CHECK(getrandom(&seed, sizeof seed, 0) == static_cast<ssize_t>(sizeof seed), "no randomness");
  return seed;
}

Result<VerifierOptions> verifier_options(const Problem& problem, const std::string& target, DeviceFacts device,
                                         ParallelFor parallel, Workbench* sanitizer) {
  VerifierOptions options;
  options.secret_seed = secret_seed();
  options.device = std::move(device);
  options.parallel = std::move(parallel);
  options.sanitizer = sanitizer;
  KW_TRY(auto plain, emit_bundle(problem, target, "plain", options.device));
  KW_TRY(options.plain, make_candidate(std::move(plain)));
  return options;
}

}  // namespace kw

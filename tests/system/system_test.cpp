#include "tests/system/system_test.hpp"

#include <map>

#include "loop/threads.hpp"
#include "loop/verifier_setup.hpp"
#include "verify/local_verifier.hpp"
#include "verify/tools/oclgrind.hpp"

namespace kw {
namespace {

struct Opened {
  Problem problem;
  std::unique_ptr<Verifier> verifier;
};

struct World {
  SteadyClock clock;
  std::unique_ptr<ExecutionBackend> backend;
  std::unique_ptr<Sanitizer> sanitizer;
  std::unique_ptr<ExecutionBackend> simulator;
  /// By target and problem, and whether the verifier sanitizes; a verifier points into its problem.
  std::map<std::pair<std::string, bool>, Opened> opened;
};
std::unique_ptr<World> world;

template <typename T>
T require(Result<T> result) {
  KW_CHECK(result.has_value(), "{}", result.error().to_string());
  return *std::move(result);
}

Result<VerifierOptions> options_for(const Problem& problem, Sanitizer* asked) {
  VerifierTools tools;
  if (asked != nullptr) tools.sanitizers = {asked};
  KW_TRY(auto options,
         verifier_options(problem, "opencl", world->backend->device(), parallel_for(usable_processors()), tools));
  options.secret_seed = 20261120;
  options.deadlines.launch_floor = std::chrono::milliseconds(500);
  return options;
}

}  // namespace

void SystemTest::SetUpTestSuite() {
  world = std::make_unique<World>();
  BackendOptions options;
  options.device_id = "opencl:0";
  world->backend = require(open_process_backend(options));
}

void SystemTest::TearDownTestSuite() {
  world.reset();
}

Candidate SystemTest::read_candidate(const std::string& path, const IntBindings& tunables) {
  const auto text = require(RealFileSystem().read(path, 1 << 20));
  return require(make_candidate(require(parse_bundle(text, path)), tunables));
}

VerifyResult SystemTest::verify_screened(const std::string& path, const IntBindings& tunables, bool sanitized) {
  const Candidate candidate = read_candidate(path, tunables);
  Opened& opened = world->opened[{"screened " + candidate.bundle.problem, sanitized}];
  if (!opened.verifier) {
    const std::string name = candidate.bundle.problem.substr(candidate.bundle.problem.find('/') + 1);
    opened.problem = require(load_problem("tests/problems/" + name + ".toml", RealFileSystem(), {}));
    auto options = require(options_for(opened.problem, sanitized ? &sanitizer() : nullptr));
    options.screen = true;
    const Candidate plain = *options.plain;
    opened.verifier = require(LocalVerifier::open(opened.problem, *world->backend, world->clock, std::move(options)));
    const auto first = opened.verifier->verify(plain);
    KW_CHECK(first.verdict.accepted(), "the plain kernel: {}", first.verdict.message);
    opened.verifier->promote();
  }
  return opened.verifier->verify(candidate);
}

VerifyResult SystemTest::verify(const std::string& path, const IntBindings& tunables, bool sanitized) {
  const Candidate candidate = read_candidate(path, tunables);
  const bool simulated = candidate.bundle.target == "cuda";
  Opened& opened = world->opened[{candidate.bundle.target + " " + candidate.bundle.problem, sanitized}];
  if (!opened.verifier) {
    const std::string name = candidate.bundle.problem.substr(candidate.bundle.problem.find('/') + 1);
    opened.problem = require(load_problem("tests/problems/" + name + ".toml", RealFileSystem(), {}));
    opened.verifier = require(simulated ? open_simulated(opened.problem)
                                        : open_verifier(opened.problem, sanitized ? &sanitizer() : nullptr));
  }
  return opened.verifier->verify(candidate);
}

Result<std::unique_ptr<Verifier>> SystemTest::open_verifier(const Problem& problem, Sanitizer* sanitizer) {
  KW_TRY(auto options, options_for(problem, sanitizer));
  return LocalVerifier::open(problem, *world->backend, world->clock, std::move(options));
}

ExecutionBackend& SystemTest::backend() {
  return *world->backend;
}

Sanitizer& SystemTest::sanitizer() {
  if (!world->sanitizer) {
    KW_CHECK(have_oclgrind(), "Oclgrind is not installed (apt-get install oclgrind)");
    world->sanitizer = simulating_sanitizer(require(open_oclgrind({})));
  }
  return *world->sanitizer;
}

ExecutionBackend& SystemTest::simulator() {
  if (!world->simulator) {
    BackendOptions options;
    options.device_id = "sim";
    world->simulator = require(open_process_backend(options));
  }
  return *world->simulator;
}

Result<std::unique_ptr<Verifier>> SystemTest::open_simulated(const Problem& problem) {
  KW_TRY(auto options, verifier_options(problem, "cuda", simulator().device(), parallel_for(usable_processors()), {}));
  options.secret_seed = 20261120;
  return LocalVerifier::open(problem, simulator(), world->clock, std::move(options));
}

}  // namespace kw

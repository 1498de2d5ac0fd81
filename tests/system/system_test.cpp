#include "tests/system/system_test.hpp"

#include "codegen/codegen.hpp"
#include "loop/threads.hpp"

namespace kw {
namespace {

struct World {
  Problem problem;
  SteadyClock clock;
  std::unique_ptr<Workbench> workbench;
  std::unique_ptr<Verifier> verifier;
};
std::unique_ptr<World> world;

template <typename T>
T require(Result<T> result) {
  KW_CHECK(result.has_value(), "{}", result.error().to_string());
  return *std::move(result);
}

}  // namespace

void SystemTest::SetUpTestSuite() {
  world = std::make_unique<World>();
  world->problem = require(load_problem("tests/problems/tiny_causal.toml", RealFileSystem(), {}));
  WorkbenchOptions options;
  options.device_id = "opencl:0";
  world->workbench = require(open_process_workbench(options));
  world->verifier = require(open_verifier(world->problem));
}

void SystemTest::TearDownTestSuite() {
  world.reset();
}

Candidate SystemTest::read_candidate(const std::string& path, const IntBindings& tunables) {
  const auto text = require(RealFileSystem().read(path, 1 << 20));
  return require(make_candidate(require(parse_bundle(text, path)), tunables));
}

VerifyResult SystemTest::verify(const std::string& path, const IntBindings& tunables) {
  return world->verifier->verify(read_candidate(path, tunables));
}

Result<std::unique_ptr<Verifier>> SystemTest::open_verifier(const Problem& problem) {
  VerifierOptions options;
  options.secret_seed = 20261120;
  options.device = world->workbench->device();
  KW_TRY(auto plain, emit_bundle(problem, "opencl", "plain", options.device));
  KW_TRY(options.plain, make_candidate(std::move(plain)));
  options.parallel = parallel_for(usable_processors());
  options.deadlines.launch_floor = std::chrono::milliseconds(500);
  return Verifier::open(problem, *world->workbench, world->clock, std::move(options));
}

Workbench& SystemTest::workbench() {
  return *world->workbench;
}

}  // namespace kw

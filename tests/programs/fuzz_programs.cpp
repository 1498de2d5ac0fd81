// kw_fuzz_programs CASES [SEED [SHARD OF [TARGET]]]: random modules of PyTorch as text, through the reader, the oracle
// whole and on demand, the interpreter of stages, and every style of a target (opencl, cuda on the simulator, a
// device's id such as cuda:0; oracle runs no kernels) under the whole verifier. A case is one module. The first failure
// is made small, printed and ends it. A single case is printed before it is run: case N is `1 SEED N 1`.

#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <cstring>

#include "tests/programs/program_cases.hpp"

namespace {

constexpr std::int64_t k_default_seed = 20261123;
constexpr std::int64_t k_most_steps = 8;

/// A number, or the end of the program with a word on how to call it.
std::int64_t number(int argc, char** argv, int index, std::int64_t fallback) {
  if (index >= argc) return fallback;
  std::int64_t value = 0;
  const char* end = argv[index] + std::strlen(argv[index]);
  const auto [stop, status] = std::from_chars(argv[index], end, value);
  if (status == std::errc() && stop == end && value >= 0) return value;
  fmt::print(stderr, "'{}' is not a number; call it as kw_fuzz_programs CASES [SEED [SHARD OF [TARGET]]]\n",
             argv[index]);
  std::exit(2);
}

struct Tally {
  std::int64_t cases = 0;
  std::int64_t unscorable = 0;  ///< of these
};

/// False after a failure, which has been printed.
bool run_one(const kw::ProgramCases& runner, std::uint64_t seed, std::int64_t index, bool only, Tally& tally) {
  kw::Rng rng = kw::Rng(seed).split(static_cast<std::uint64_t>(index));
  const auto steps = 1 + rng.below(k_most_steps);
  const auto module = kw::draw_module(rng, static_cast<int>(steps));
  if (only) {  // a case that ends the program has been seen by then
    fmt::print("{}", module.to_python());
    std::fflush(stdout);
  }
  const auto outcome = runner.run(module);
  ++tally.cases;
  if (outcome.status == kw::ProgramOutcome::Status::unscorable) ++tally.unscorable;
  if (outcome.status != kw::ProgramOutcome::Status::fails) return true;
  fmt::print("FAILED: seed {}, case {}\n{}making it small\n", seed, index, kw::describe(module, outcome));
  std::fflush(stdout);
  const auto small = runner.shrink(module, outcome.stage);
  fmt::print("{}", kw::describe(small, runner.run(small)));
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  const auto wanted = number(argc, argv, 1, 100);
  const auto seed = static_cast<std::uint64_t>(number(argc, argv, 2, k_default_seed));
  const auto shard = number(argc, argv, 3, 0);
  const auto shards = number(argc, argv, 4, 1);
  const std::string target = argc > 5 ? argv[5] : "opencl";
  const auto runner = kw::ProgramCases::open(target);
  if (!runner) {
    fmt::print(stderr, "{}\n", runner.error().to_string());
    return 3;
  }
  Tally tally;
  for (auto index = shard; tally.cases < wanted; index += shards) {
    if (!run_one(*runner, seed, index, wanted == 1, tally)) return 1;
    if (tally.cases % 100 == 0) {
      fmt::print(stderr, "{} of {} cases, {} of them cannot be scored\n", tally.cases, wanted, tally.unscorable);
    }
  }
  fmt::print("{} modules agree with the oracle; {} of them cannot be scored (target {}, seed {}, shard {} of {})\n",
             tally.cases, tally.unscorable, target, seed, shard, shards);
  return 0;
}

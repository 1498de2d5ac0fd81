// kw_fuzz_attention CASES [SEED [SHARD OF [TARGET]]]: random attention problems, every style of a target (opencl, or
// cuda on the simulator) against the oracle, through the whole verifier. A case is one mod at one shape, dtype and
// tile. The first failure is made small, printed and ends it.

#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <cstring>

#include "tests/differential/attention_cases.hpp"

namespace {

/// A build serves all shapes of a program. The simulator runs no faster than it builds, so that there fewer shapes are
/// more kernels in the same time.
constexpr int k_shapes_per_program = 20, k_simulated_shapes = 4;
constexpr std::int64_t k_default_seed = 20261120;

/// A number, or the end of the program with a word on how to call it.
std::int64_t number(int argc, char** argv, int index, std::int64_t fallback) {
  if (index >= argc) return fallback;
  std::int64_t value = 0;
  const char* end = argv[index] + std::strlen(argv[index]);
  const auto [stop, status] = std::from_chars(argv[index], end, value);
  if (status == std::errc() && stop == end && value >= 0) return value;
  fmt::print(stderr, "'{}' is not a number; call it as kw_fuzz_attention CASES [SEED [SHARD OF [TARGET]]]\n",
             argv[index]);
  std::exit(2);
}

struct Tally {
  std::int64_t cases = 0;
  std::int64_t programs = 0;
  std::int64_t unscorable = 0;
};

/// False after a failure, which has been printed.
bool run_one(kw::AttentionCases& runner, int shapes, std::uint64_t seed, std::int64_t index, Tally& tally) {
  kw::Rng rng(seed + static_cast<std::uint64_t>(index) * 0x9e3779b97f4a7c15ULL);
  auto program = kw::draw_attention(rng, shapes);
  const auto outcome = runner.run(program);
  ++tally.programs;
  if (outcome.status == kw::CaseOutcome::Status::agrees) {
    tally.cases += shapes;
    return true;
  }
  if (outcome.status == kw::CaseOutcome::Status::unscorable) {
    ++tally.unscorable;
    return true;
  }
  fmt::print("FAILED: seed {}, program {}\n{}making it small\n", seed, index, kw::describe(program, outcome));
  std::fflush(stdout);
  auto small = runner.shrink(program, outcome.stage);
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
  const int shapes = target == "opencl" ? k_shapes_per_program : k_simulated_shapes;
  auto runner = kw::AttentionCases::open(target);
  if (!runner) {
    fmt::print(stderr, "{}\n", runner.error().to_string());
    return 3;
  }
  Tally tally;
  for (auto index = shard; tally.cases < wanted; index += shards) {
    if (!run_one(*runner, shapes, seed, index, tally)) return 1;
    if (tally.programs % 20 == 0) {
      fmt::print(stderr, "{} of {} cases, {} programs were unscorable\n", tally.cases, wanted, tally.unscorable);
    }
  }
  fmt::print(
      "{} cases in {} programs agree with the oracle; {} more programs were unscorable (seed {}, shard {} of {})\n",
      tally.cases, tally.programs - tally.unscorable, tally.unscorable, seed, shard, shards);
  return 0;
}

// kw_kernelbench_plain [STEPS [SHARD OF]]: every module of KernelBench's levels 1 and 2, made as small as STEPS
// allow, under the verifier with its plain kernels. An honest kernel that is refused is a defect; what cannot be scored
// is listed. The files are no part of the project: without them it says so.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>

#include "base/clock.hpp"
#include "base/file_system.hpp"
#include "loop/threads.hpp"
#include "loop/verifier_setup.hpp"
#include "problem/operator.hpp"
#include "program/testing/kernelbench_files.hpp"
#include "verify/local_verifier.hpp"
#include "verify/processes/process_backend.hpp"

namespace {

namespace fs = std::filesystem;
using namespace kw;

/// Where a module cannot be made as small as asked: the oracle would take minutes.
constexpr double k_most_steps = 1e7;

double steps_of_largest(const Problem& problem) {
  double most = 0;
  for (const auto& workload : problem.workloads) most = std::max(most, cost(problem, workload).steps);
  return most;
}

/// Dropout is read as in eval mode, where it is the identity.
Result<Problem> small_problem_of(const fs::path& path, double steps) {
  constexpr double k_most_bytes = 1 << 26;
  constexpr std::int64_t k_most_text = 1 << 20;
  KW_TRY(const auto text, RealFileSystem().read(path, k_most_text));
  const std::string mode = text.find("ropout") != std::string::npos ? "eval" : "train";
  const std::string file = path.filename().string();
  KW_TRY(const auto toml,
         find_operator("program")->format.from_module({text, file, "", mode, {}, {k_most_bytes, steps}}));
  return parse_problem(toml, file);
}

Result<void> open_verifier(const Problem& problem, ExecutionBackend& backend) {
  const SteadyClock clock;
  KW_TRY(auto options, verifier_options(problem, "opencl", backend.device(), parallel_for(usable_processors()), {}));
  KW_TRY_VOID(LocalVerifier::open(problem, backend, clock, std::move(options)));
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  const double steps = argc > 1 ? std::stod(argv[1]) : 1e6;
  const std::size_t shard = argc > 3 ? std::stoul(argv[2]) : 0;
  const std::size_t shards = argc > 3 ? std::stoul(argv[3]) : 1;
  const auto files = program_test::kernelbench_files();
  if (files.empty()) {
    fmt::print("SKIP: {}\n", program_test::no_kernelbench());
    return 0;
  }
  BackendOptions options;
  options.device_id = "opencl:0";
  const auto backend = open_process_backend(options);
  if (!backend) {
    fmt::print(stderr, "{}\n", backend.error().to_string());
    return 3;
  }
  int refused = 0, unscorable = 0, verified = 0, large = 0;
  for (std::size_t i = shard; i < files.size(); i += shards) {
    const std::string name = files[i].filename().string();
    const auto problem = small_problem_of(files[i], steps);
    if (problem && steps_of_largest(*problem) > k_most_steps) {
      ++large;
      fmt::print("too large {}: {:.2g} steps\n", name, steps_of_largest(*problem));
      continue;
    }
    const auto opened = problem ? open_verifier(*problem, **backend) : Result<void>(tl::unexpected(problem.error()));
    if (opened) {
      ++verified;
      continue;
    }
    const bool scored = opened.error().code != errc::unscorable;
    ++(scored ? refused : unscorable);
    fmt::print("{} {}: {}\n", scored ? "REFUSED" : "unscorable", name, opened.error().to_string());
    std::fflush(stdout);
  }
  fmt::print("{} plain kernels are right, {} are refused, {} modules cannot be scored\n", verified, refused,
             unscorable);
  return refused == 0 ? 0 : 1;
}

#pragma once
// A run that never happened, for tests of what stores, prints and reports runs: the shape of a real one (a CPU, an
// ALiBi problem, a search that finds better kernels and gets some rejected), a pure function of its seed.

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.hpp"
#include "base/rng.hpp"
#include "record/attempt.hpp"
#include "record/run_record.hpp"
#include "record/testing/synthetic_attempt.hpp"

namespace kw {

struct SyntheticRun {
  RunRecord run;
  std::vector<Attempt> attempts;
};

namespace synthetic {

inline RunRecord run(std::uint64_t seed) {
  RunRecord r;
  r.id = "4f1c0a9be27d3356";
  r.started_utc = "2026-11-20T09:00:00Z";
  r.version = "0.1.0";
  r.problem = "attention/alibi";
  r.problem_text =
      "name = \"attention/alibi\"\nop = \"attention\"\n\n[axes]\nB = 1\nHq = 8\nHkv = 8\nSq = 1024\nSkv = 1024\nD = "
      "64\n"
      "Dv = 64\n\n[attention]\ndtype = \"f32\"\nscore_mod = \"\"\"\ndef alibi(score, b, h, q_idx, kv_idx):\n"
      "    return score + torch.exp2(-((h + 1) * 8.0 / Hq)) * (kv_idx - q_idx)\n\"\"\"\n";
  r.op = "attention";
  r.target = "opencl";
  r.proposer = "search";
  r.seed = seed;
  r.device.id = "opencl:0";
  r.device.target = "opencl";
  r.device.name = "pthread-skylake-avx512-AMD EPYC";
  r.device.driver = "PoCL 3.1, LLVM 15";
  r.device.compute_units = 2;
  r.device.max_block_items = 4096;
  r.device.memory_bytes = std::int64_t{24} << 30;
  r.device.vector_floats = 16;
  r.device.peak_f32_flops = 5.1e11;
  r.device.peak_bytes = 3.2e10;
  r.limits.wall_seconds = 60;
  r.status = RunStatus::finished;
  r.sandbox_tier = "b";
  r.workloads = {"primary", "tiny", "odd", "long keys"};
  r.distributions = {"normal", "uniform", "spikes", "late keys"};
  r.environment = {{"cpu", "AMD EPYC 9B45, 2 cores"}, {"kernel", "Linux 6.1.0"}, {"load", "0.31 0.40 0.38"}};
  r.useful_flops = 2.18e9;
  r.useful_bytes = 8.4e6;
  r.baselines = {{"plain", 61.2e6, {60.4e6, 62.3e6, 0.95}}};
  for (const auto& workload : r.workloads) {
    for (const auto& distribution : r.distributions) {
      r.best_accuracy.push_back({workload, distribution, 0.31 + 0.01 * static_cast<double>(workload.size()), 1.0});
    }
  }
  return r;
}

}  // namespace synthetic

inline SyntheticRun synthetic_run(std::uint64_t seed, std::int64_t count) {
  Rng rng(seed);
  SyntheticRun result{synthetic::run(seed), {}};
  double best_ns = 0;
  double elapsed = 1.4;
  for (std::int64_t i = 0; i < count; ++i) {
    Attempt a;
    a.ordinal = i;
    a.proposer = "search";
    a.origin = i < 3 ? "analytic seed " + std::to_string(i + 1) : "neighbour of " + std::to_string(rng.below(i));
    a.candidate.bundle = synthetic::bundle();
    for (const auto& tunable : a.candidate.bundle.tunables) {
      const auto pick = rng.below(static_cast<std::int64_t>(tunable.values.size()));
      a.candidate.tunables[tunable.name] = tunable.values[static_cast<std::size_t>(pick)];
    }
    a.build.build_ms = 80 + 10 * rng.uniform();
    a.build.binary_bytes = 48'000 + rng.below(9000);
    a.build.binary_hash = hash_bytes(std::to_string(i));
    if (i > 2 && rng.uniform() < 1.0 / 6) {
      synthetic::reject_some(a, rng);
    } else {
      synthetic::accept(a, rng, best_ns, result.run.useful_flops);
    }
    a.wall_seconds = 0.2 + 0.16 * rng.uniform();
    a.device_seconds = 0.6 * a.wall_seconds;
    elapsed += a.wall_seconds;
    a.elapsed_seconds = elapsed;
    if (a.became_best) result.run.best_ordinal = i;
    result.run.used.device_seconds += a.device_seconds;
    result.attempts.push_back(std::move(a));
  }
  result.run.used.wall_seconds = elapsed;
  result.run.used.candidates = count;
  if (result.run.best_ordinal) {
    result.run.best_path = "out/attention-alibi.cl";
    Measurement final = *result.attempts[static_cast<std::size_t>(*result.run.best_ordinal)].measurement;
    const double speedup = result.run.baselines[0].median_ns / final.median_ns;
    final.samples = 60;
    final.versus = {{"plain", Comparison::faster, speedup, synthetic::around(speedup, 0.008), 40, 1}};
    result.run.best_final = final;
  }
  return result;
}

}  // namespace kw

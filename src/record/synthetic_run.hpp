#pragma once
// A run that never happened, for tests of what stores, prints and reports runs: the shape of a real one (a CPU, an
// ALiBi problem, a search that finds better kernels and gets some rejected), a pure function of its seed.

#include <algorithm>
#include <cmath>

#include "base/rng.hpp"
#include "record/run_record.hpp"

namespace kw {

struct SyntheticRun {
  RunRecord run;
  std::vector<Attempt> attempts;
};

namespace synthetic {

inline Bundle bundle() {
  Bundle b;
  b.target = "opencl";
  b.problem = "attention/alibi";
  b.generator = "vector 1";
  b.tunables = {{"BM", {2, 4, 6, 8}, 4}, {"BN", {64, 128, 256, 512}, 128}, {"UNROLL", {1, 2, 4}, 1}};
  b.constraints = {"BM * BN <= 4096"};
  b.defines = {{"HEAD_DIM", "D"}};
  b.scratch = {{"kt", DType::f32, "B * Hkv * D * round_up(Skv, 32)"}};
  b.launches = {{"pack", {"ceil_div(Skv, 32)", "Hkv", "B"}, {"1", "1", "1"}, "0", {"K", "kt", "Skv"}},
                {"attention", {"ceil_div(Sq, BM)", "Hq", "B"}, {"1", "1", "1"}, "0", {"Q", "kt", "V", "O", "Sq"}}};
  b.source =
      "// attention/alibi, vector style: K in panels of 32 columns, BM rows of float16 registers.\n"
      "__kernel void pack(__global const float* K, __global float* kt, int Skv) {\n"
      "  const int panel = get_group_id(0);\n"
      "  for (int c = 0; c < 32 && panel * 32 + c < Skv; ++c) {\n"
      "    for (int d = 0; d < HEAD_DIM; ++d) kt[(panel * HEAD_DIM + d) * 32 + c] = K[(panel * 32 + c) * HEAD_DIM + "
      "d];\n"
      "  }\n"
      "}\n";
  return b;
}

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

inline Interval around(double value, double relative) {
  return {value * (1 - relative), value * (1 + relative * 1.1), 0.95};
}

/// One in six is rejected, by one gate or another.
inline void reject_some(Attempt& attempt, Rng& rng) {
  struct Case {
    GateId gate;
    Reason reason;
    const char* message;
  };
  static constexpr Case k_cases[] = {
      {GateId::build, Reason::build_failed, "error: use of undeclared identifier 'acc7'"},
      {GateId::statics, Reason::resource_limit, "needs 1.5 MiB of local memory, the device has 1 MiB"},
      {GateId::check, Reason::wrong_result, "workload tiny, normal: O[0,3,17,2] is off by 41 times what is allowed"},
      {GateId::check, Reason::timeout, "no answer after 2.0 s; killed"},
      {GateId::check, Reason::crashed, "signal 11 (Segmentation fault)"},
  };
  const Case& chosen = k_cases[rng.below(5)];
  for (const GateId gate : {GateId::read, GateId::build, GateId::statics, GateId::check}) {
    if (gate == chosen.gate) break;
    attempt.verdict.gates_passed.push_back(gate);
  }
  attempt.verdict.status = VerdictStatus::rejected;
  attempt.verdict.reason = chosen.reason;
  attempt.verdict.failed_gate = chosen.gate;
  attempt.verdict.message = chosen.message;
  attempt.verdict.evidence = {{chosen.gate, chosen.message, false}};
}

inline void accept(Attempt& attempt, Rng& rng, double& best_ns, double flops) {
  attempt.verdict.gates_passed = {GateId::read, GateId::build, GateId::statics, GateId::check, GateId::time};
  attempt.verdict.evidence = {
      {GateId::check, "4 workloads x 4 distributions, error at most 0.36 of what is allowed", false}};
  const bool first = best_ns == 0;
  const double floor_ns = 6.9e6;
  const bool lucky = rng.uniform() < 0.12;
  const double ns = first   ? 31e6
                    : lucky ? std::max(floor_ns, best_ns * (0.80 + 0.15 * rng.uniform()))
                            : std::max(best_ns, floor_ns) * std::exp(0.05 + std::abs(rng.normal()) * 0.6);
  const double speedup = first ? 1 : best_ns / ns;
  Measurement m;
  m.median_ns = ns;
  m.ci_ns = around(ns, 0.004 + 0.01 * rng.uniform());
  m.stopped_early = speedup < 0.66;
  m.samples = m.stopped_early ? 3 : 20;
  const Comparison decision = speedup > 1.02   ? Comparison::faster
                              : speedup < 0.98 ? Comparison::slower
                                               : Comparison::equivalent;
  if (!first) m.versus = {{"incumbent", decision, speedup, around(speedup, 0.01), m.samples, rng.below(2)}};
  m.gflops = flops / ns;
  m.roofline_fraction = m.gflops * 1e9 / 5.1e11;
  attempt.measurement = m;
  attempt.became_best = first || decision == Comparison::faster;
  if (attempt.became_best) best_ns = ns;
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

#pragma once
// What the attempts of a run that never happened consist of (synthetic_run.hpp): the kernel that is tried, and how the
// gates and the clock find it. What varies is drawn from the run's generator.

#include <algorithm>
#include <cmath>

#include "base/rng.hpp"
#include "record/attempt.hpp"
#include "record/bundle.hpp"
#include "record/verdict.hpp"

namespace kw::synthetic {

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
      {GateId::static_check, Reason::resource_limit, "needs 1.5 MiB of local memory, the device has 1 MiB"},
      {GateId::check, Reason::wrong_result, "workload tiny, normal: O[0,3,17,2] is off by 41 times what is allowed"},
      {GateId::check, Reason::timeout, "no answer after 2.0 s; killed"},
      {GateId::check, Reason::crashed, "signal 11 (Segmentation fault)"},
  };
  const Case& chosen = k_cases[rng.below(5)];
  for (const GateId gate : {GateId::read, GateId::build, GateId::static_check, GateId::check}) {
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
  attempt.verdict.gates_passed = {GateId::read, GateId::build, GateId::static_check, GateId::check, GateId::time};
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

}  // namespace kw::synthetic

#pragma once
// For tests: styles whose bundles are never compiled, and landscapes that say how fast each candidate would be.

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/rng.hpp"
#include "codegen/codegen.hpp"
#include "propose/proposer.hpp"
#include "propose/search/search_proposer.hpp"

namespace kw::synthetic {

inline Problem problem() {
  Problem problem;
  problem.name = "test/copy";
  problem.inputs = {{"X", DType::f32, {"N"}}};
  problem.outputs = {{"Y", DType::f32, {"N"}}};
  problem.workloads = {{"primary", WorkloadRole::primary, {{"N", 1024}}}, {"edge", WorkloadRole::edge, {{"N", 7}}}};
  return problem;
}

inline DeviceFacts device() {
  DeviceFacts facts;
  facts.max_block_items = 1024;
  return facts;
}

inline Bundle bundle(std::vector<Tunable> tunables, std::vector<std::string> constraints, const std::string& source) {
  Bundle made;
  made.target = "opencl";
  made.tunables = std::move(tunables);
  made.constraints = std::move(constraints);
  made.launches = {{"copy", {"1"}, {"1"}, "0", {"X", "Y"}}};
  made.source = source;
  return made;
}

/// Five dimensions, 8 x 8 x 8 x 4 x 4 points, one constraint that removes about a sixth of them.
inline Result<Bundle> emit_five(const Problem&, const DeviceFacts&, const IntBindings&) {
  const std::vector<std::int64_t> eight = {1, 2, 4, 8, 16, 32, 64, 128};
  return bundle({{"A", eight, 1}, {"B", eight, 1}, {"C", eight, 1}, {"D", {0, 1, 2, 3}, 0}, {"E", {0, 1, 2, 3}, 0}},
                {"A * B <= 1024"}, "five");
}

inline std::vector<IntBindings> no_seeds(const Problem&, const DeviceFacts&) {
  return {};
}
inline double no_estimate(const Problem&, const DeviceFacts&, const IntBindings&) {
  return 1;
}

inline const Style& five() {
  static const Style k_style = {"copy", "opencl", "five", "", {}, emit_five, no_seeds, no_estimate};
  return k_style;
}

/// Time of a candidate; negative: the verifier would reject it.
using Landscape = std::function<double(const Candidate&)>;

inline double level(const Candidate& candidate, const char* name) {
  return std::log2(static_cast<double>(candidate.tunables.at(name)));
}

/// A bowl with its bottom, 1 ms, at A=16 B=8 C=4 D=2 E=1.
inline double bowl(const Candidate& candidate) {
  const auto square = [](double x) { return x * x; };
  const auto at = [&](const char* name) { return static_cast<double>(candidate.tunables.at(name)); };
  return 1e6 * (1 + 0.06 * square(level(candidate, "A") - 4) + 0.05 * square(level(candidate, "B") - 3) +
                0.04 * square(level(candidate, "C") - 2) + 0.08 * square(at("D") - 2) + 0.07 * square(at("E") - 1));
}

/// The bowl with up to 30 % added at random places: many local optima.
inline double rugged(const Candidate& candidate) {
  std::uint64_t mixed = 17;
  for (const auto& [name, value] : candidate.tunables) mixed = Rng(mixed + static_cast<std::uint64_t>(value)).next();
  const bool is_bottom = bowl(candidate) < 1.0001e6;
  return bowl(candidate) * (is_bottom ? 1 : 1 + 0.3 * Rng(mixed).uniform());
}

/// The rugged bowl in which a third of all candidates does not work.
inline double holed(const Candidate& candidate) {
  const auto a = candidate.tunables.at("A") + candidate.tunables.at("C") + candidate.tunables.at("D");
  return a % 3 == 0 ? -1 : rugged(candidate);
}

/// What the verifier would say: median with noise, compared with the best so far.
class Judge {
 public:
  Judge(Landscape landscape, double noise, std::uint64_t seed)
      : landscape_(std::move(landscape)), noise_(noise), rng_(seed) {}

  Attempt judge(const Proposal& proposal) {
    Attempt attempt;
    attempt.ordinal = ordinal_++;
    attempt.candidate = proposal.candidate;
    attempt.origin = proposal.origin;
    const double truth = landscape_(proposal.candidate);
    if (truth < 0) {
      attempt.verdict.reject(GateId::check, Reason::wrong_result, "wrong");
      return attempt;
    }
    attempt.measurement = Measurement();
    attempt.measurement->median_ns = truth * std::exp(noise_ * rng_.normal());
    const double speedup = best_ > 0 ? best_ / truth : 2;
    if (best_ > 0) attempt.measurement->versus = {versus(speedup)};
    attempt.measurement->stopped_early = speedup < 1 / 1.5;
    attempt.became_best = speedup > 1.02;
    if (attempt.became_best) best_ = truth;
    return attempt;
  }
  [[nodiscard]] double best() const { return best_; }

 private:
  static Versus versus(double speedup) {
    Versus result;
    result.name = "incumbent";
    result.pairs = 10;
    result.speedup = speedup;
    result.decision = speedup > 1.02       ? Comparison::faster
                      : speedup < 1 / 1.02 ? Comparison::slower
                                           : Comparison::equivalent;
    return result;
  }

  Landscape landscape_;
  double noise_;
  Rng rng_;
  std::int64_t ordinal_ = 0;
  double best_ = 0;
};

}  // namespace kw::synthetic

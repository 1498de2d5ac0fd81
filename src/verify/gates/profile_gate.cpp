// The gate `profile`: where the time lies against the roofline, what the hardware counts of a kernel that would become
// the best, and what a simulator counts of its accesses of memory. Never rejects.

#include <algorithm>

#include "base/text.hpp"
#include "language/language.hpp"
#include "record/time_use.hpp"
#include "record/useful_rate.hpp"
#include "verify/checking/launch_steps.hpp"
#include "verify/gates/gate.hpp"
#include "verify/tools/call_ablation.hpp"
#include "verify/tools/profile.hpp"
#include "verify/tools/simulated_accesses.hpp"

namespace kw {
namespace {

void note_roofline(GateContext& context, Measurement& measurement) {
  fill_profile(context.facts, context.measuring, measurement);
  if (!measurement.roofline_fraction) return;
  const WorkloadCost work = context.facts.costs().primary();
  const auto rate = useful_rate_text(work.flops, work.bytes, measurement.median_ns);
  const double percent = 100.0 * *measurement.roofline_fraction;
  // Of a convolution no number of operations is certain, since there are ways with fewer.
  context.verdict.note(GateId::profile,
                       work.flops > 0 ? fmt::format("{}, {:.0f} % of the roofline at {:.1f} FLOP per byte", rate,
                                                    percent, work.flops / work.bytes)
                                      : fmt::format("{}, {:.0f} % of what the memory allows; no number of operations "
                                                    "is known to be needed",
                                                    rate, percent));
}

void ask_hardware(GateContext& context, Measurement& measurement) {
  const LaunchPlan& plan = context.loaded.built.plans.front().plan;
  if (!context.measuring.profiling.has_time(context.facts, plan, measurement.median_ns)) return;
  if (const auto why_not =
          count_in_hardware(context.facts, context.measuring.profiling, context.loaded, context.clock, measurement)) {
    context.verdict.note(GateId::profile, "no hardware counters, the compiler's figures stand in: " + *why_not);
  }
}

/// Which part of the time each launch takes, of a kernel that has several. One run of each, with warm caches: for
/// readers, and no time that anything is decided by.
void note_launch_shares(GateContext& context) {
  constexpr std::int64_t k_most_between_launches = std::int64_t{1} << 29;
  const RunFacts& facts = context.facts;
  TenthOfTime& share = context.measuring.stepping;
  const auto& launches = context.loaded.built.plans.front().plan.launches;
  if (launches.size() < 2 || !share.has_time(facts)) return;
  const auto stepping = context.clock.doing(time_activity::launches);
  const Instant began = facts.clock.now();
  const auto& deadlines = facts.options.deadlines;
  const auto steps = step_through(facts.problem, facts.backend, context.loaded, case_of(facts.suite, 0),
                                  {deadlines.start, deadlines.first_launch}, k_most_between_launches, context.clock);
  share.used += facts.clock.now() - began;
  if (!steps) return context.verdict.note(GateId::profile, "no shares of its launches in the time: " + steps.error());
  const double request_ns = context.measuring.baseline.least_request_ns.value_or(0);
  const auto time_of = [&](const SteppedLaunch& step) { return std::max(1.0, step.observed_ns - request_ns); };
  double all = 0;
  std::vector<std::pair<std::string, double>> kernels;  // those that are launched again and again once
  for (std::size_t i = 0; i < launches.size(); ++i) {
    all += time_of((*steps)[i]);
    auto known = std::ranges::find(kernels, launches[i].kernel, &std::pair<std::string, double>::first);
    if (known == kernels.end()) known = kernels.insert(known, {launches[i].kernel, 0.0});
    known->second += time_of((*steps)[i]);
  }
  const auto text = join(
      kernels, ", ", [&](const auto& one) { return fmt::format("{} {:.0f} %", one.first, 100 * one.second / all); });
  context.verdict.note(GateId::profile, "shares of its launches in the time, run one by one: " + text);
}

/// What calls of built-in functions cost: for whoever reads it, where no hardware counts. OpenCL's functions alone have
/// stand-ins.
void note_call_share(GateContext& context, const Measurement& measurement) {
  const RunFacts& facts = context.facts;
  TenthOfTime& share = context.measuring.stepping;
  const bool counted = facts.device().kind == DeviceKind::gpu;
  const Language* language = find_language(context.loaded.candidate.bundle.target);
  if (language == nullptr || !language->has_vector_types) return;
  const auto expected = Duration(static_cast<std::int64_t>(k_ablation_launches * measurement.median_ns));
  if (counted || !facts.options.count_accesses || !share.has_time(facts, expected)) return;
  const auto ablating = context.clock.doing(time_activity::launches);
  const Instant began = facts.clock.now();
  const auto& deadlines = facts.options.deadlines;
  const auto found =
      ablate_calls(facts, context.loaded, context.measuring.baseline.least_request_ns.value_or(0),
                   {deadlines.start, context.measuring.baseline.launch_deadline(deadlines)}, context.clock);
  share.used += facts.clock.now() - began;
  if (!found) return context.verdict.note(GateId::profile, "what its calls cost is not known: " + found.error());
  if (*found) context.verdict.note(GateId::profile, ablation_text(**found));
}

/// False where nobody asked, or nothing here can simulate the kernel.
bool ask_simulator(GateContext& context) {
  if (!context.facts.options.count_accesses) return false;
  ExecutionBackend* simulator = counting_simulator(context.facts);
  if (simulator == nullptr) return false;
  auto counted = count_accesses(context.facts, *simulator, context.loaded, context.clock);
  if (counted) {
    context.accesses = *std::move(counted);
  } else {
    context.verdict.note(GateId::profile, "accesses of memory were not counted: " + counted.error());
  }
  return context.accesses.has_value();
}

}  // namespace

bool run_profile_gate(GateContext& context) {
  if (!context.facts.timed()) {
    context.skipped = !ask_simulator(context);
    return true;
  }
  if (!context.measurement) return true;
  note_roofline(context, *context.measurement);
  if (!context.measuring.would_be_best(*context.measurement)) return true;
  note_launch_shares(context);
  note_call_share(context, *context.measurement);
  ask_hardware(context, *context.measurement);
  static_cast<void>(ask_simulator(context));
  return true;
}

}  // namespace kw

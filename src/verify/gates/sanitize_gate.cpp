// The gate `sanitize`: a candidate that would become the best runs once more under a tool that sees what a result does
// not show, on small workloads and in some groups of each launch of the primary one, and any finding rejects it.
// Outputs are not judged here; the check gate did that.

#include <algorithm>
#include <chrono>

#include "record/time_use.hpp"
#include "verify/checking/launch_steps.hpp"
#include "verify/checking/plan_slice.hpp"
#include "verify/gates/gate.hpp"
#include "verify/tools/sanitizer.hpp"

namespace kw {

/// What one tool is asked, and what comes of it. All tools are asked at the same time: one works on the GPU, another on
/// a processor.
struct SanitizerInquiry {
  const RunFacts& facts;
  const LoadedCandidate& loaded;
  StepClock clock;
  Verdict verdict = {};  ///< notes, and a rejection
  bool skipped = true;   ///< no whole workload was checked
};

namespace {

using Inquiry = SanitizerInquiry;
constexpr std::size_t k_workloads = 2;

/// What the tool can do in the time that is left. Each run takes about a sixth of it, for a kernel that nothing is left
/// to decide about after it was sanitized is lost.
SanitizerReach reach_in_time(const Sanitizer& sanitizer, const StepClock& clock) {
  constexpr double k_share = 1.0 / 6;
  constexpr Duration k_long = std::chrono::hours(1);
  SanitizerReach reach = sanitizer.reach();
  const double flops = k_share * to_seconds(clock.timeout(k_long).time) * reach.flops_per_second;
  reach.enough_flops = std::min(reach.enough_flops, flops);
  reach.slice_flops = std::min(reach.slice_flops, flops);
  return reach;
}

bool is_left_out(const RunFacts& facts, std::size_t workload) {
  const auto& left_out = facts.suite.left_out();
  return std::find(left_out.begin(), left_out.end(), workload) != left_out.end();
}

/// Indices of the workloads that are worth the tool's time, of those that have a case.
std::vector<std::size_t> small_workloads(const Inquiry& inquiry, const SanitizerReach& reach) {
  const RunFacts& facts = inquiry.facts;
  std::vector<std::pair<double, std::size_t>> sized;
  for (std::size_t w = 0; w < facts.problem.workloads.size(); ++w) {
    if (is_left_out(facts, w) || too_large_to_hold(inquiry.loaded.built.plans[w].plan, reach.whole_bytes)) continue;
    const double flops = facts.costs().of(w).steps;
    if (flops <= reach.most_flops) sized.emplace_back(flops, w);
  }
  std::sort(sized.begin(), sized.end());
  // The largest of the small ones: a workload of one row has no tile to leave. Where none is small, the smallest.
  std::vector<std::size_t> chosen;
  for (auto it = sized.rbegin(); it != sized.rend() && chosen.size() < k_workloads; ++it) {
    if (it->first <= reach.enough_flops) chosen.push_back(it->second);
  }
  if (chosen.empty() && !sized.empty()) chosen.push_back(sized.front().second);
  return chosen;
}

/// False after a rejection.
bool judge(const Problem& problem, const Sanitized& result, Verdict& verdict) {
  const Workload& workload = problem.workloads[result.workload];
  const bool hidden = workload.role == WorkloadRole::held_out;
  const std::string& text = result.finding ? result.finding->text : result.note;
  verdict.note(GateId::sanitize, workload.name + ": " + text, hidden);
  if (!result.finding) return true;
  verdict.reject(GateId::sanitize, Reason::sanitizer_report, hidden ? summary_of(*result.finding) : text);
  return false;
}

/// Useful operations of the primary workload that the tool is given: a second of its time, at the speed that it had on
/// the small workloads of this kernel. Vectors are watched ten times as fast as scalars, and a busy machine is slower.
double primary_steps(const RunFacts& facts, const SanitizerReach& reach, const std::vector<Sanitized>& small) {
  constexpr double k_seconds = 1;
  double speed = 0;
  for (const Sanitized& one : small) {
    if (one.took > Duration::zero())
      speed = std::max(speed, facts.costs().of(one.workload).steps / to_seconds(one.took));
  }
  return speed > 0 ? std::min(speed * k_seconds, reach.enough_flops) : reach.slice_flops;
}

/// Groups of each launch that the tool can run; `without` tells of the launches that have none.
std::vector<WatchedSlice> slices_of_primary(const RunFacts& facts, const LaunchPlan& plan, const SanitizerReach& reach,
                                            double all_steps, std::vector<SteppedLaunch> steps, std::string& without) {
  // One group that is more than its launch's part is looked at, where it is not more than that of three such kernels.
  constexpr double k_most_for_one = 3;
  const double part = all_steps / static_cast<double>(steps.size());
  Rng rng(facts.options.secret_seed);
  std::vector<WatchedSlice> slices;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const SliceLimits limits{part, k_most_for_one * all_steps, reach.slice_kind};
    auto slice = slice_of(plan, i, facts.costs().of(0).steps * steps[i].share, limits, rng);
    if (slice) {
      slices.push_back({*std::move(slice), std::move(steps[i].before)});
    } else {
      without += fmt::format("{}{}", without.empty() ? "" : "; ",
                             steps.size() == 1 ? slice.error() : fmt::format("launch {}: {}", i + 1, slice.error()));
    }
  }
  return slices;
}

/// What goes wrong at the sizes of the primary workload alone is looked for in as many groups of each launch as the
/// tool can run. Not enough to call a candidate sanitized.
std::vector<WatchedSlice> slices_in_reach(Inquiry& inquiry, const Sanitizer& sanitizer,
                                          const std::vector<Sanitized>& small) {
  constexpr std::int64_t k_most_between_launches = std::int64_t{1} << 29;
  const RunFacts& facts = inquiry.facts;
  const SanitizerReach reach = reach_in_time(sanitizer, inquiry.clock);
  const LaunchPlan& plan = inquiry.loaded.built.plans[0].plan;
  const auto note = [&](std::string_view text) {
    inquiry.verdict.note(GateId::sanitize, fmt::format("primary not sanitized by {}: {}", sanitizer.name(), text));
  };
  if (const auto too_large = too_large_to_hold(plan, reach.slice_bytes)) {
    note(*too_large);
    return {};
  }
  const auto& deadlines = facts.options.deadlines;
  auto steps = step_through(facts.problem, facts.backend, inquiry.loaded, case_of(facts.suite, 0),
                            {deadlines.start, deadlines.first_launch}, k_most_between_launches, inquiry.clock);
  if (!steps) {
    note(steps.error());
    return {};
  }
  std::string without;
  auto slices = slices_of_primary(facts, plan, reach, primary_steps(facts, reach, small), *std::move(steps), without);
  if (!without.empty()) note(without);
  return slices;
}

/// Runs the tool and judges what it says, until something rejects. `results` is what it said; false after a rejection.
bool watch(Inquiry& inquiry, Sanitizer& sanitizer, const SanitizerWork& work, std::vector<Sanitized>& results) {
  results = sanitizer.run(inquiry.facts, inquiry.loaded, work, inquiry.clock);
  const auto& launches = inquiry.loaded.built.plans[0].plan.launches;
  return std::ranges::all_of(results, [&](Sanitized& one) {
    if (one.slice) {
      const LaunchSlice& slice = work.slices[*one.slice].slice;
      const std::string launch =
          launches.size() == 1 ? "" : fmt::format("launch {} ({}), ", slice.launch + 1, launches[slice.launch].kernel);
      one.note = fmt::format("{}{}: {}", launch, slice.which, one.note);
    }
    return judge(inquiry.facts.problem, one, inquiry.verdict);
  });
}

/// Whether the primary workload runs on the device, and not whole under the tool.
bool is_primary_open(const RunFacts& facts, const std::vector<std::size_t>& workloads) {
  return std::find(workloads.begin(), workloads.end(), std::size_t{0}) == workloads.end() && !is_left_out(facts, 0);
}

/// False after a rejection; `skipped` is cleared when a whole workload was checked.
bool ask(Inquiry& inquiry, Sanitizer& sanitizer) {
  const SanitizerReach reach = reach_in_time(sanitizer, inquiry.clock);
  SanitizerWork work{small_workloads(inquiry, reach), {}};
  const bool primary_open = is_primary_open(inquiry.facts, work.workloads);
  if (work.workloads.empty()) {
    inquiry.verdict.note(GateId::sanitize, "not sanitized: every workload is too large for " + sanitizer.name());
  }
  if (primary_open && reach.at_once) work.slices = slices_in_reach(inquiry, sanitizer, {});
  std::vector<Sanitized> results;
  const bool some = !work.workloads.empty() || !work.slices.empty();
  const bool clean = !some || watch(inquiry, sanitizer, work, results);
  const auto is_checked = [](const Sanitized& one) { return one.checked && !one.slice; };
  if (std::ranges::any_of(results, is_checked)) inquiry.skipped = false;
  if (!clean || !primary_open || reach.at_once) return clean;
  if (some && inquiry.clock.out_of_time()) return true;
  const SanitizerWork primary{{}, slices_in_reach(inquiry, sanitizer, results)};
  return primary.slices.empty() || watch(inquiry, sanitizer, primary, results);
}

/// Takes over what the tools said, in their order, up to a rejection; false then.
bool join(GateContext& context, std::vector<Inquiry>& inquiries) {
  for (Inquiry& inquiry : inquiries) {
    context.clock.add_device_seconds(inquiry.clock.device_seconds());
    if (inquiry.clock.deadline_hit()) context.clock.hit_deadline();
    if (!inquiry.skipped) context.skipped = false;
  }
  for (Inquiry& inquiry : inquiries) {
    const Verdict& said = inquiry.verdict;
    for (const auto& evidence : said.evidence) context.verdict.note(evidence.gate, evidence.text, evidence.hidden);
    if (!said.failed_gate) continue;
    context.verdict.reject(*said.failed_gate, said.reason, said.message);
    return false;
  }
  return true;
}

/// False after a rejection: nothing was checked, and the user requires it.
bool is_sanitized_as_required(GateContext& context) {
  const auto& requirements = context.facts.options.requirements;
  if (!context.skipped || context.is_baseline || std::ranges::none_of(requirements, needs_sanitizer)) return true;
  context.verdict.reject(GateId::sanitize, Reason::constraint_violated,
                         "sanitized is required, and no sanitizer could run this kernel");
  return false;
}

}  // namespace

bool run_sanitize_gate(GateContext& context) {
  if (!context.facts.timed()) {
    context.verdict.note(
        GateId::sanitize,
        "no finding (by the simulator, in every launch: bounds, races, barriers, uninitialised shared memory)");
    return true;
  }
  if (context.facts.options.tools.sanitizers.empty()) {
    context.verdict.note(GateId::sanitize, "not sanitized: this machine has no tool for it; see `kernelwright doctor`");
  }
  context.skipped = true;
  if (!context.inquiries) ask_sanitizers(context);
  if (!join(context, *context.inquiries)) return false;
  if (context.clock.out_of_time()) {
    context.verdict.cannot_decide(GateId::sanitize, k_budget_ended);
    return false;
  }
  return is_sanitized_as_required(context);
}

void ask_sanitizers(GateContext& context) {
  const auto& sanitizers = context.facts.options.tools.sanitizers;
  const bool at_once = sanitizers.size() > 1;
  auto inquiries = std::make_shared<std::vector<Inquiry>>();
  for (std::size_t i = 0; i < sanitizers.size(); ++i) {
    inquiries->push_back({context.facts, context.loaded, at_once ? context.clock.beside() : context.clock.part()});
  }
  const auto watching = context.clock.doing(at_once ? time_activity::tool : TimeLedger::k_other);
  context.facts.options.parallel(std::ssize(sanitizers), [&](std::int64_t i) {
    const auto at = static_cast<std::size_t>(i);
    static_cast<void>(ask((*inquiries)[at], *sanitizers[at]));
  });
  context.inquiries = std::move(inquiries);
}

}  // namespace kw

#include "verify/tools/simulated_accesses.hpp"

#include <algorithm>
#include <utility>

#include "language/language.hpp"
#include "record/time_use.hpp"
#include "verify/checking/case_runner.hpp"
#include "verify/checking/plan_slice.hpp"
#include "verify/checking/source_policy.hpp"
#include "verify/checking/worker_words.hpp"
#include "verify/processes/build_deadline.hpp"
#include "verify/tools/sanitizer.hpp"

namespace kw {
namespace {

/// Half a second of one core, with counting (docs/cuda.md).
constexpr double k_counted_steps = 1e7;
constexpr std::int64_t k_most_counted_bytes = std::int64_t{1} << 27;
constexpr Duration k_counting_deadline = std::chrono::seconds(20);

template <typename Value>
using OrWhyNot = tl::expected<Value, std::string>;

/// A plan whose launches have their first groups alone.
struct CountedPart {
  LaunchPlan plan;
  std::int64_t groups = 0;  ///< of all launches together
  std::int64_t of = 0;      ///< in the whole plan
};

std::int64_t groups_of(const PlannedLaunch& launch) {
  return launch.grid[0] * launch.grid[1] * launch.grid[2];
}

double items_of(const PlannedLaunch& launch) {
  return static_cast<double>(groups_of(launch)) *
         static_cast<double>(launch.block[0] * launch.block[1] * launch.block[2]);
}

/// The same share of every launch, at least one group: which addresses a warp asks for seldom depends on data, so that
/// it does not matter what the groups left out would have written. Work-items count alike.
OrWhyNot<CountedPart> part_to_count(const LaunchPlan& plan, double steps) {
  if (const auto why = too_large_to_hold(plan, k_most_counted_bytes)) return tl::unexpected(*why);
  double items = 0;
  for (const auto& launch : plan.launches) items += items_of(launch);
  CountedPart part{plan, 0, 0};
  double counted = 0;
  for (auto& launch : part.plan.launches) {
    const double work = steps * items_of(launch) / items;
    const std::int64_t all = groups_of(launch);
    const double fit = static_cast<double>(all) * std::min(1.0, k_counted_steps / std::max(steps, 1.0));
    std::int64_t taken = 1;
    for (auto& extent : launch.grid) {
      extent = std::clamp<std::int64_t>(static_cast<std::int64_t>(fit) / taken, 1, extent);
      taken *= extent;
    }
    counted += work * static_cast<double>(taken) / static_cast<double>(all);
    part.groups += taken;
    part.of += all;
  }
  if (counted <= 2 * k_counted_steps) return part;
  return tl::unexpected(fmt::format("one group of each launch comes to {:.2g} useful FLOPs", counted));
}

OrWhyNot<std::string> build_counting(const RunFacts& facts, ExecutionBackend& simulator, const LoadedCandidate& loaded,
                                     const LaunchPlan& plan, const StepClock& clock) {
  const auto compiling = clock.doing(time_activity::compiling);
  const Candidate& candidate = loaded.candidate;
  const auto definitions = build_definitions(candidate, facts.problem.primary().axes, facts.device());
  if (!definitions) return tl::unexpected(definitions.error().message);
  BuildRequest request{simulator.device().id,
                       guarded_source(candidate.bundle.source, candidate.bundle.target, *definitions),
                       {},
                       plan.launches};
  request.definitions.assign(definitions->begin(), definitions->end());
  request.counting = Counting::accesses;
  auto built = simulator.build(request, build_deadline(clock, facts.options.deadlines.build), candidate.origin);
  if (const auto* lost = std::get_if<LostWorker>(&built)) return tl::unexpected(lost->detail);
  auto& reply = std::get<BuildReply>(built);
  if (reply.status != BuildStatus::ok) return tl::unexpected(std::string("the simulator could not build it"));
  return std::move(reply.binary);
}

/// New data like those of the checks; the answer is not looked at.
OrWhyNot<CheckCase> drawn_case(const RunFacts& facts) {
  CheckCase one;
  auto inputs = make_inputs(facts.problem, facts.problem.primary(), one.distribution, facts.options.secret_seed ^ 1);
  if (!inputs) return tl::unexpected(inputs.error().message);
  one.inputs = std::move(inputs->values);
  return one;
}

OrWhyNot<LaunchOutcome> launch_counting(const RunFacts& facts, ExecutionBackend& simulator, LoadedCandidate counted,
                                        StepClock& clock) {
  const auto one = drawn_case(facts);
  if (!one) return tl::unexpected(one.error());
  if (auto failure = start_candidate(simulator, counted, clock.timeout(facts.options.deadlines.start).time)) {
    return tl::unexpected(failure->sentence);
  }
  const StepTimeout timeout = clock.timeout(k_counting_deadline);
  auto run = run_case(facts.problem, counted, *one, {false, k_nan_poison, timeout.time, timeout.ends_budget}, clock);
  if (!run) return tl::unexpected(run.error().sentence);
  return std::move(run->time);
}

bool is_possible(const AccessCounts& counts, std::int64_t lines) {
  const auto is_count = [](std::int64_t number) { return number >= 0 && number <= std::int64_t{1} << 48; };
  return counts.line >= 0 && counts.line <= lines && is_count(counts.requests) && is_count(counts.partial) &&
         is_count(counts.lanes) && is_count(counts.transactions) && is_count(counts.least);
}

std::vector<AccessCounts> bounded(std::vector<AccessCounts> reported, const std::string& source) {
  const std::int64_t lines = std::ranges::count(source, '\n') + 1;
  std::erase_if(reported, [&](const AccessCounts& counts) { return !is_possible(counts, lines); });
  if (reported.size() > k_max_access_lines) reported.resize(k_max_access_lines);
  for (AccessCounts& counts : reported) counts.kernel = plain_name(counts.kernel);
  return reported;
}

}  // namespace

tl::expected<SimulatedAccesses, std::string> count_accesses(const RunFacts& facts, ExecutionBackend& simulator,
                                                            const LoadedCandidate& loaded, StepClock& clock) {
  const auto counting = clock.doing(time_activity::tool);
  const auto part = part_to_count(loaded.built.plans[0].plan, facts.costs().of(0).steps);
  if (!part) return tl::unexpected(part.error());
  auto binary = build_counting(facts, simulator, loaded, part->plan, clock);
  if (!binary) return tl::unexpected(binary.error());
  LoadedCandidate counted{loaded.candidate, {}, nullptr};
  counted.built.binaries.push_back(*std::move(binary));
  counted.built.plans.push_back({part->plan, 0});
  counted.built.counting = Counting::accesses;
  auto outcome = launch_counting(facts, simulator, std::move(counted), clock);
  if (!outcome) return tl::unexpected(outcome.error());
  SimulatedAccesses accesses{simulator.device().id, part->groups, part->of, outcome->uncounted_accesses,
                             bounded(std::move(outcome->accesses), loaded.candidate.bundle.source)};
  if (accesses.lines.empty()) return tl::unexpected(std::string("the simulator of this device counts no accesses"));
  return accesses;
}

ExecutionBackend* counting_simulator(const RunFacts& facts) {
  const Language* language = find_language(facts.device().target);
  if (language == nullptr || !language->simulator || !language->simulator->counts_accesses) return nullptr;
  if (!facts.timed()) return &facts.backend;
  for (Sanitizer* sanitizer : facts.options.tools.sanitizers) {
    if (ExecutionBackend* simulator = sanitizer->counting_simulator()) return simulator;
  }
  return nullptr;
}

}  // namespace kw

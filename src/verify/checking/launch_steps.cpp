#include "verify/checking/launch_steps.hpp"

#include "record/time_use.hpp"

namespace kw {
namespace {

/// One plan for each launch of the first one.
StartRequest one_by_one(const StartRequest& built) {
  StartRequest steps{built.binaries, {}, built.inspection};
  const BuiltPlan& whole = built.plans.front();
  for (const PlannedLaunch& launch : whole.plan.launches) {
    steps.plans.push_back({LaunchPlan{whole.plan.buffers, {launch}}, whole.binary});
  }
  return steps;
}

BufferContents contents_of(const LaunchPlan& plan, KernelProcess& process) {
  BufferContents contents(plan.buffers.size());
  for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
    if (plan.buffers[i].role == BufferRole::input) continue;
    const auto bytes = process.buffer(i);
    contents[i].assign(bytes.begin(), bytes.end());
  }
  return contents;
}

std::int64_t bytes_between(const LaunchPlan& plan) {
  std::int64_t bytes = 0;
  for (const auto& buffer : plan.buffers) bytes += buffer.role == BufferRole::input ? 0 : buffer.bytes;
  return bytes * (std::ssize(plan.launches) - 1);
}

}  // namespace

tl::expected<std::vector<SteppedLaunch>, std::string> step_through(const Problem& problem, ExecutionBackend& backend,
                                                                   const LoadedCandidate& loaded, const CheckCase& one,
                                                                   const StepDeadlines& deadlines,
                                                                   std::int64_t most_bytes, StepClock& clock) {
  const LaunchPlan& whole = loaded.built.plans.front().plan;
  if (whole.launches.size() == 1) return std::vector<SteppedLaunch>(1);
  if (const auto bytes = bytes_between(whole); bytes > most_bytes) {
    return tl::unexpected(fmt::format("its launches leave {} MiB to each other", bytes >> 20));
  }
  LoadedCandidate stepped{loaded.candidate, one_by_one(loaded.built), nullptr};
  if (auto failure = start_candidate(backend, stepped, clock.timeout(deadlines.start).time)) {
    return tl::unexpected("its launches could not be run one by one: " + failure->sentence);
  }
  std::vector<SteppedLaunch> steps;
  double all = 0;
  for (std::size_t i = 0; i < whole.launches.size(); ++i) {
    SteppedLaunch step;
    if (i > 0) step.before = contents_of(whole, *stepped.process);
    const StepTimeout running = clock.timeout(deadlines.launch);
    CaseMode mode{false, k_nan_poison, running.time, running.ends_budget};
    if (i > 0) mode.contents = &step.before;
    const auto run = run_plan(problem, stepped, i, one, mode, clock);
    if (!run) return tl::unexpected("its launches could not be run one by one: " + run.error().sentence);
    step.observed_ns = static_cast<double>(run->time.observed_ns);
    all += step.observed_ns;
    steps.push_back(std::move(step));
  }
  for (SteppedLaunch& step : steps) step.share = step.observed_ns / all;
  return steps;
}

}  // namespace kw

#include "verify/checking/case_runner.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "base/zeros.hpp"
#include "record/time_use.hpp"
#include "verify/checking/accuracy.hpp"
#include "verify/checking/device_filling.hpp"
#include "verify/checking/doubted_rows.hpp"
#include "verify/checking/error_location.hpp"
#include "verify/checking/error_pattern.hpp"
#include "verify/checking/simulator_report.hpp"
#include "verify/checking/storage.hpp"

namespace kw {
namespace {

/// Everything but what the device fills.
void prepare(const LaunchPlan& plan, KernelProcess& process, const StoredInputs& inputs, const LaunchFilling& filling,
             const CaseMode& mode, const ParallelFor& parallel) {
  const Poison& poison = mode.poison;
  std::size_t next_input = 0;
  for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
    const std::size_t input = next_input;
    if (plan.buffers[i].role == BufferRole::input) ++next_input;
    const auto bytes = process.buffer(i);
    if (is_filled(filling, i)) {
      // All of it comes back. Its pages may be new, and a driver's copy would have one thread clear them: 0.5 s for 537
      // MB (2026-11-27).
      if (plan.buffers[i].role == BufferRole::output && !is_counted(filling, i)) touch_pages(bytes, parallel);
      if (plan.buffers[i].role == BufferRole::input && inputs.has_firsts(input)) {
        copy_bytes(bytes, inputs.firsts(input, parallel), parallel);
      }
      continue;
    }
    if (plan.buffers[i].role == BufferRole::input) {
      if (mode.inputs_are_there) continue;
      const auto values = inputs.bytes(input, parallel);
      KW_CHECK(values.size() == bytes.size(), "input of {} bytes for a buffer of {}", values.size(), bytes.size());
      copy_bytes(bytes, values, parallel);
    } else if (mode.contents != nullptr && !(*mode.contents)[i].empty()) {
      const auto& held = (*mode.contents)[i];
      KW_CHECK(held.size() == bytes.size(), "{} bytes for a buffer of {}", held.size(), bytes.size());
      copy_bytes(bytes, held, parallel);
    } else {
      fill_poison(bytes, plan.buffers[i].role == BufferRole::scratch ? poison.scratch : poison.outputs, parallel);
    }
  }
  for (const auto guard : process.guards()) std::fill(guard.begin(), guard.end(), poison.guards);
}

CaseFailure lost(const LostWorker& loss, Duration deadline) {
  switch (loss.how) {
    case WorkerLoss::not_started:
    case WorkerLoss::starved:
      return {Reason::none, "no process could be started for it: " + loss.detail, loss.detail, false};
    case WorkerLoss::timed_out:
      return {Reason::timeout, fmt::format("a launch did not finish within {:.1f} s", to_seconds(deadline)),
              loss.detail};
    case WorkerLoss::out_of_memory:
      return {Reason::memory_limit, "the process ran out of the memory the sandbox grants", loss.detail};
    case WorkerLoss::crashed: {
      const bool fault = loss.detail.find("SIGSEGV") != std::string::npos;
      return {Reason::crashed,
              fmt::format("the process running the kernel died: {}{}", loss.detail,
                          fault ? ": it touched memory that is not its own, as behind the end of a buffer" : ""),
              loss.detail};
    }
  }
  return {Reason::crashed, "the process running the kernel died", loss.detail};
}

std::optional<CaseFailure> inspect_surroundings(const Problem& problem, const LaunchPlan& plan, KernelProcess& process,
                                                const StoredInputs& inputs, const LaunchFilling& filling,
                                                const LaunchOutcome& outcome, std::byte filled,
                                                const ParallelFor& parallel) {
  std::size_t zone = 0;
  for (const auto guard : process.guards()) {
    const auto hit = std::find_if(guard.begin(), guard.end(), [&](std::byte b) { return b != filled; });
    if (hit != guard.end()) {
      return CaseFailure{Reason::guard_overwritten, "the kernel wrote outside its buffers",
                         fmt::format("guard zone {}, byte {} of {}", zone, hit - guard.begin(), guard.size())};
    }
    ++zone;
  }
  std::size_t next_input = 0;
  for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
    if (plan.buffers[i].role != BufferRole::input) continue;
    const bool by_device = is_filled(filling, i);
    const bool named = std::ranges::find(outcome.changed, static_cast<std::int64_t>(i)) != outcome.changed.end();
    const bool same = by_device ? !named && parts_are_unchanged(filling, i, process, inputs, next_input)
                                : same_bytes(inputs.bytes(next_input, parallel), process.buffer(i), parallel);
    if (!same) {
      return CaseFailure{Reason::input_modified, fmt::format("input {} was modified", problem.inputs[next_input].name),
                         ""};
    }
    ++next_input;
  }
  return std::nullopt;
}

/// The outputs of one case as numbers, to be looked at after they were found to be wrong.
struct Judged {
  const TensorSpec& tensor;
  const Axes& axes;
  std::vector<double> got;
  std::vector<bool> poison;  ///< which elements hold it
};

Judged judged(const Problem& problem, const CheckCase& one, const CaseRun& run, const Poison& poison,
              std::size_t output) {
  const auto& tensor = problem.outputs[output];
  Judged values{tensor, problem.workloads[one.workload].axes, {}, {}};
  for (std::size_t i = 0; i < one.expected[output].size(); ++i) {
    values.got.push_back(stored_element(tensor.dtype, run.outputs[output], i));
    values.poison.push_back(is_poison(tensor.dtype, run.outputs[output], poison.outputs, i));
  }
  return values;
}

std::string where_unwritten(const Problem& problem, const CheckCase& one, const Judged& values, std::size_t output,
                            double allowed) {
  const std::vector<double> errors =
      element_errors(values.got, one.expected[output].numbers(), one.form(problem, output));
  std::vector<bool> unwritten = values.poison;
  for (std::size_t i = 0; i < errors.size(); ++i) {
    unwritten[i] = unwritten[i] && is_left_out(values.got[i], errors[i], allowed);
  }
  const auto count = std::count(unwritten.begin(), unwritten.end(), true);
  std::string text = fmt::format("{} of {} elements unwritten", count, values.got.size());
  for (const auto& words : error_location(unwritten, values.tensor, values.axes)) text += "\n  pattern: " + words;
  return text;
}

std::string where_wrong(const Problem& problem, const CheckCase& one, const Judged& values, std::size_t output,
                        double allowed) {
  const std::vector<double> expected = one.expected[output].numbers();
  const ComparedOutput compared{values.tensor, values.axes, expected, values.got, one.form(problem, output), allowed};
  return fmt::format("{} distribution: {}", one.distribution.name, describe(find_error_pattern(compared), compared));
}

}  // namespace

const CheckCase& case_of(const CheckSuite& suite, std::size_t workload) {
  const auto& cases = suite.cases();
  const auto found =
      std::find_if(cases.begin(), cases.end(), [&](const CheckCase& one) { return one.workload == workload; });
  KW_CHECK(found != cases.end(), "no case on workload {}", workload);
  return *found;
}

namespace {

using LaunchEnd = std::variant<LaunchOutcome, LaunchFailure, LostWorker>;

LaunchEnd launch(KernelProcess& process, const LaunchFilling& filling, const CaseMode& mode, StepClock& clock) {
  const auto launching = clock.doing(time_activity::launches);
  auto end = filling.fills.empty() ? process.launch(mode.cold, mode.deadline)
                                   : process.launch_filled(filling, mode.cold, mode.deadline);
  const auto* outcome = std::get_if<LaunchOutcome>(&end);
  if (outcome != nullptr) clock.reassign(time_activity::flush, Duration(outcome->flush_ns));
  return end;
}

/// Why a launch gave nothing to look at.
std::optional<CaseFailure> failure_of(const LaunchEnd& end, KernelProcess& process, const CaseMode& mode,
                                      StepClock& clock) {
  if (const auto* loss = std::get_if<LostWorker>(&end)) {
    if (loss->how == WorkerLoss::timed_out) clock.add_device_seconds(to_seconds(mode.deadline));
    if (loss->how == WorkerLoss::timed_out && mode.ends_budget) {
      clock.hit_deadline();
      return CaseFailure{Reason::none, k_budget_ended, "", false};
    }
    return lost(*loss, mode.deadline);
  }
  if (auto finding = first_simulator_finding(process.output())) {
    return CaseFailure{Reason::sanitizer_report, std::move(finding->summary), std::move(finding->text)};
  }
  if (const auto* refused = std::get_if<LaunchFailure>(&end)) {
    return CaseFailure{Reason::launch_failed, refused->what, refused->what};
  }
  return std::nullopt;
}

/// What the device counted in that buffer; nothing where it was to count and has not.
std::optional<UselessCount> count_of(const LaunchOutcome& outcome, std::int64_t buffer) {
  for (const UselessElements& one : outcome.useless) {
    if (one.buffer == buffer) return UselessCount{one.unwritten, one.nans};
  }
  return std::nullopt;
}

/// All bytes of a buffer, or where the device counts those parts of it that have come back.
void copy_output(std::size_t buffer, KernelProcess& process, const LaunchFilling& filling, std::vector<std::byte>& to,
                 const ParallelFor& parallel) {
  const auto bytes = process.buffer(buffer);
  if (!is_counted(filling, buffer)) return copy_bytes(to, bytes, parallel);
  for (const BufferPart& part : filling.returned) {
    if (part.buffer != static_cast<std::int64_t>(buffer)) continue;
    std::copy_n(bytes.begin() + part.offset, part.bytes, to.begin() + part.offset);
  }
}

/// Whether the outputs are these. Each byte is read once, so that nothing depends on whether the process changes it
/// later.
bool holds(const LaunchPlan& plan, KernelProcess& process, const OutputBytes& outputs, const StepClock& clock,
           const ParallelFor& parallel) {
  const auto judging = clock.doing(time_activity::judging);
  std::size_t output = 0;
  for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
    if (plan.buffers[i].role != BufferRole::output) continue;
    if (!same_bytes(outputs[output++], process.buffer(i), parallel)) return false;
  }
  return true;
}

/// In the memory of `used`, by the order of outputs, where that is as large.
void copy_outputs(const LaunchPlan& plan, KernelProcess& process, const LaunchFilling& filling, const StepClock& clock,
                  const ParallelFor& parallel, OutputBytes used, CaseRun& run) {
  const auto copying = clock.doing(time_activity::copies);
  for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
    if (plan.buffers[i].role != BufferRole::output) continue;
    const auto length = static_cast<std::size_t>(plan.buffers[i].bytes);
    const std::size_t place = run.outputs.size();
    const bool fits = place < used.size() && used[place].size() == length;
    run.outputs.push_back(fits ? std::move(used[place]) : zeros<std::byte>(length, parallel));
    copy_output(i, process, filling, run.outputs.back(), parallel);
    run.counted.push_back(is_counted(filling, i) ? count_of(run.time, static_cast<std::int64_t>(i)) : std::nullopt);
  }
}

}  // namespace

tl::expected<CaseRun, CaseFailure> run_case(const Problem& problem, LoadedCandidate& loaded, const CheckCase& one,
                                            const CaseMode& mode, StepClock& clock, const ParallelFor& parallel) {
  return run_plan(problem, loaded, one.workload, one, mode, clock, parallel);
}

tl::expected<CaseRun, CaseFailure> run_plan(const Problem& problem, LoadedCandidate& loaded, std::size_t chosen,
                                            const CheckCase& one, const CaseMode& mode, StepClock& clock,
                                            const ParallelFor& parallel) {
  const auto copying = clock.doing(time_activity::copies);
  const StoredInputs inputs(problem, one);
  return run_plan(problem, loaded, chosen, inputs, mode, clock, parallel);
}

tl::expected<CaseRun, CaseFailure> run_plan(const Problem& problem, LoadedCandidate& loaded, std::size_t chosen,
                                            const StoredInputs& inputs, const CaseMode& mode, StepClock& clock,
                                            const ParallelFor& parallel) {
  KernelProcess& process = *loaded.process;
  const LaunchPlan& plan = loaded.built.plans[chosen].plan;
  if (auto selected = process.select(chosen); !selected) {
    return tl::unexpected(CaseFailure{Reason::launch_failed, selected.error().message, selected.error().to_string()});
  }
  const LaunchFilling filling = device_filling(plan, process, inputs, mode);
  {
    const auto copying = clock.doing(time_activity::copies);
    prepare(plan, process, inputs, filling, mode, parallel);
  }
  const auto end = launch(process, filling, mode, clock);
  if (auto failure = failure_of(end, process, mode, clock)) return tl::unexpected(*std::move(failure));
  CaseRun run;
  run.time = std::get<LaunchOutcome>(end);
  clock.add_device_seconds(static_cast<double>(run.time.observed_ns) * 1e-9);
  if (std::ranges::any_of(filling.counted, [&](std::int64_t buffer) { return !count_of(run.time, buffer); })) {
    return tl::unexpected(CaseFailure{Reason::crashed, "the process running the kernel counted no outputs", ""});
  }
  run.repeats = mode.earlier != nullptr && holds(plan, process, *mode.earlier, clock, parallel);
  if (!run.repeats) {
    copy_outputs(plan, process, filling, clock, parallel,
                 mode.memory != nullptr ? std::exchange(*mode.memory, {}) : OutputBytes(), run);
  }
  const auto judging = clock.doing(time_activity::judging);
  if (auto failure =
          inspect_surroundings(problem, plan, process, inputs, filling, run.time, mode.poison.guards, parallel))
    return tl::unexpected(*std::move(failure));
  return run;
}

std::optional<CaseFailure> judge_case(const Problem& problem, const CheckCase& one, const CaseRun& run,
                                      const CaseMode& mode, AccuracyTable* accuracy, const ParallelFor& parallel) {
  const auto& workload = problem.workloads[one.workload];
  for (std::size_t output = 0; output < run.outputs.size(); ++output) {
    double allowed = one.limit(output);
    const std::string& name = problem.outputs[output].name;
    const auto& bytes = run.outputs[output];
    OutputError error = measure_error(bytes, mode.poison.outputs, one.expected[output], one.scales[output],
                                      one.form(problem, output), allowed, parallel);
    if (!error.nothing_wrong()) {
      const auto asked = ask_about_doubted_rows(problem, one, output, bytes, mode.poison.outputs, parallel);
      if (asked && asked->error.nothing_wrong()) {
        error = asked->error;
        allowed = asked->limit;
      }
    }
    if (accuracy != nullptr) {
      accuracy->push_back({workload.name, std::string(one.distribution.name), error.max_error, allowed});
    }
    if (error.nothing_wrong()) continue;
    const Judged values = judged(problem, one, run, mode.poison, output);
    if (error.unwritten > 0) {
      return CaseFailure{Reason::output_unwritten, fmt::format("{} has elements that were never written", name),
                         where_unwritten(problem, one, values, output, allowed)};
    }
    const std::string where = where_wrong(problem, one, values, output, allowed);
    if (error.not_finite > 0) {
      return CaseFailure{Reason::not_finite, fmt::format("{} has NaN or infinite elements", name), where};
    }
    return CaseFailure{Reason::wrong_result, fmt::format("{} is wrong", name), where};
  }
  return std::nullopt;
}

namespace {

/// With the first plan in place of those whose binary is not built yet: they are not launched.
StartRequest startable(StartRequest built) {
  for (auto& plan : built.plans) {
    if (plan.binary >= built.binaries.size()) plan = built.plans.front();
  }
  return built;
}

}  // namespace

std::optional<CaseFailure> start_candidate(ExecutionBackend& backend, LoadedCandidate& loaded, Duration deadline) {
  auto started = backend.start(startable(loaded.built), deadline);
  if (auto* process = std::get_if<std::unique_ptr<KernelProcess>>(&started)) {
    loaded.process = std::move(*process);
    return std::nullopt;
  }
  if (const auto* loss = std::get_if<LostWorker>(&started)) return lost(*loss, deadline);
  const auto& what = std::get<LaunchFailure>(started).what;
  return CaseFailure{Reason::launch_failed, what, what};
}

void reject_case(const Problem& problem, const CheckCase& one, GateId gate, const CaseFailure& failure,
                 Verdict& verdict) {
  const auto& workload = problem.workloads[one.workload];
  const bool hidden = workload.role == WorkloadRole::held_out;
  const std::string place = hidden ? "a held-out workload" : "workload " + workload.name;
  // What a runtime says of a launch it refuses may hold the launch's sizes.
  const bool speaks_of_sizes = hidden && failure.reason == Reason::launch_failed;
  const std::string what = speaks_of_sizes ? "the runtime refused a launch" : failure.sentence;
  if (!failure.detail.empty()) verdict.note(gate, fmt::format("{}: {}", workload.name, failure.detail), hidden);
  const std::string sentence = fmt::format("{}: {}", place, what);
  if (failure.candidate_at_fault) {
    verdict.reject(gate, failure.reason, sentence);
  } else {
    verdict.cannot_decide(gate, sentence);
  }
}

}  // namespace kw

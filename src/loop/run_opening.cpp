#include "loop/run_opening.hpp"

#include <utility>

#include "loop/verifier_setup.hpp"
#include "verify/timing/timing.hpp"
#include "verify/tools/sanitizer.hpp"

namespace kw {
namespace {

/// For a simulated run, which is slow, all checks of a candidate together: some five seconds of a core for each
/// of its two launches. A few candidates then fit in a minute, as few as they are. `verify` has no such limit.
constexpr double k_most_simulated_suite_flops = 1e8;

/// One line about what else the machine does, before anything is timed.
void note_interference(RunRecord& record, RunServices& services) {
  const auto share = services.interference ? services.interference() : std::nullopt;
  if (!share) return;
  const std::string text = fmt::format("something waited for a processor in {:.0f} % of the last 10 s", 100 * *share);
  record.environment.emplace_back("interference", text);
  constexpr double k_busy = 0.25;
  if (*share > k_busy) services.observer.warning("the machine is busy, " + text + ": times will scatter");
}

}  // namespace

Result<void> reach_model(const RunSetup& setup, const RunServices& services) {
  if (!setup.model || setup.model->client == nullptr) return {};
  return setup.model->client->reach({Instant::max(), &services.stop});
}

Result<VerifierOptions> opening_options(const RunSetup& setup, const RunServices& services, const DeviceFacts& device,
                                        Instant began) {
  KW_TRY(auto options, verifier_options(setup.problem, setup.target, device, services.parallel, services.tools));
  options.comparison = search_rule();
  // A model is told what was found of each of its kernels, and its kernels are few.
  options.screen = !setup.model;
  options.count_accesses = setup.model.has_value();
  options.beside = services.beside;
  options.start = services.start;
  options.deadlines.build = build_share(options.deadlines.build, setup.limits.wall_seconds);
  options.requirements = setup.requirements;
  if (device.kind == DeviceKind::simulator) options.suite.suite_flops = k_most_simulated_suite_flops;
  if (setup.limits.wall_seconds) options.opening_deadline = began + from_seconds(*setup.limits.wall_seconds);
  return options;
}

void note_conditions(RunRecord& record, const RunSetup& setup, RunServices& services, const WorkloadCost& work) {
  record.environment = setup.environment;
  record.sandbox_tier = std::string(to_string(services.backend.sandbox().tier));
  record.workloads.clear();
  record.distributions.clear();
  for (const auto& workload : setup.problem.workloads) record.workloads.push_back(workload.name);
  for (const auto& one : all_distributions(setup.problem)) record.distributions.emplace_back(one.name);
  record.sanitizers.clear();
  for (const Sanitizer* sanitizer : services.tools.sanitizers) record.sanitizers.push_back(sanitizer->name());
  record.useful_flops = work.flops;
  record.useful_bytes = work.bytes;
  note_interference(record, services);
}

void note_checked(RunRecord& record, CheckedCases checked) {
  record.workloads = std::move(checked.workloads);
  record.sampled_rows = checked.sampled_rows;
  record.cases_left_out.reset();
  if (checked.left_out > 0) record.cases_left_out = static_cast<std::int64_t>(checked.left_out);
}

}  // namespace kw

// What was asked and under which conditions, and the machine it ran on.

#include "base/text.hpp"
#include "report/format.hpp"
#include "report/sections.hpp"

namespace kw {
namespace {

/// What stands behind `start` in the line of the problem's canonical text that begins with it.
std::string rest_of_line(const std::string& problem_text, std::string_view start) {
  std::size_t at = problem_text.rfind(start, 0) == 0 ? 0 : problem_text.find("\n" + std::string(start));
  if (at == std::string::npos) return "";
  at = problem_text.find(start, at) + start.size();
  return problem_text.substr(at, problem_text.find('\n', at) - at);
}

std::string used_text(const BudgetUse& used) {
  return fmt::format("{} wall clock, {} candidates, {} on the device", format_duration(used.wall_seconds),
                     used.candidates, format_duration(used.device_seconds));
}

}  // namespace

std::string budget_text(const BudgetLimits& limits) {
  std::vector<std::string> parts;
  if (limits.wall_seconds) parts.push_back(format_duration(*limits.wall_seconds) + " wall clock");
  if (limits.candidates) parts.push_back(fmt::format("{} candidates", *limits.candidates));
  if (limits.device_seconds) parts.push_back(format_duration(*limits.device_seconds) + " on the device");
  if (limits.tokens) parts.push_back(fmt::format("{} tokens", *limits.tokens));
  if (limits.dollars) parts.push_back(format_value(Number{*limits.dollars, Unit::dollars, std::nullopt}));
  return parts.empty() ? "no limit" : join(parts);
}

std::string asked_precision(const std::string& problem_text) {
  return rest_of_line(problem_text, "precision ");
}

Section asked_section(const RunRecord& run) {
  Facts facts{
      "asked",
      "The run",
      {{"problem", "Problem", text_or_nothing(run.problem)},
       {"axes", "Axes", text_or_nothing(rest_of_line(run.problem_text, "workload primary ")),
        "of the primary workload"},
       {"useful_flops", "Work", number_or_nothing(run.useful_flops, Unit::flop), "operations that cannot be avoided"},
       {"useful_bytes", "Data", number_or_nothing(run.useful_bytes, Unit::bytes),
        "every input read once, every output written once"},
       {"device", "Device", text_or_nothing(run.device.name), run.device.id},
       {"target", "Target", text_or_nothing(run.target)},
       {"proposer", "Proposer", text_or_nothing(run.proposer), fmt::format("seed {}", run.seed)},
       {"budget", "Budget", budget_text(run.limits)},
       {"used", "Used", used_text(run.used)},
       {"status", "Status", std::string(to_string(run.status)), run.failure},
       {"started", "Started", text_or_nothing(run.started_utc)},
       {"run_id", "Run", text_or_nothing(run.id)}}};
  if (const auto precision = asked_precision(run.problem_text); !precision.empty()) {
    facts.facts.insert(facts.facts.begin() + 2,
                       {"precision", "Precision", precision, "not to be compared with strict kernels"});
  }
  Section section{"asked", "What was asked", {facts}};
  if (!run.mod_text.empty()) {
    section.blocks.emplace_back(Code{"mod_text", "The mods, as they were written", "python", run.mod_text});
  }
  section.blocks.emplace_back(Code{"problem_text", "The problem, in its normal form", "text", run.problem_text});
  return section;
}

Section environment_section(const RunRecord& run) {
  const DeviceFacts& device = run.device;
  Facts machine{"device",
                "Device",
                {{"name", "Name", text_or_nothing(device.name)},
                 {"driver", "Driver", text_or_nothing(device.driver)},
                 {"compute_units", "Compute units", counted(device.compute_units)},
                 {"vector_floats", "Vector width", counted(device.vector_floats), "32-bit floats"},
                 {"memory_bytes", "Memory", number_or_nothing(static_cast<double>(device.memory_bytes), Unit::bytes)},
                 {"last_level_cache_bytes", "Last-level cache",
                  number_or_nothing(static_cast<double>(device.last_level_cache_bytes), Unit::bytes)},
                 {"peak_gflops", "Peak", number_or_nothing(device.peak_f32_flops * 1e-9, Unit::gflops),
                  "measured by the calibration kernel"},
                 {"peak_bytes_per_second", "Memory rate", number_or_nothing(device.peak_bytes, Unit::bytes_per_second),
                  "measured"}}};
  Facts environment{"environment", "Environment", {{"version", "kernelwright", text_or_nothing(run.version)}}};
  for (const auto& [name, value] : run.environment) environment.facts.push_back({name, name, text_or_nothing(value)});
  return {"environment", "Environment", {machine, environment}};
}

}  // namespace kw

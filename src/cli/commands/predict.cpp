// kernelwright predict: times of kernels that nobody ran.

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "archive/archive.hpp"
#include "base/file_system.hpp"
#include "base/text.hpp"
#include "cli/commands.hpp"
#include "cli/device_choice.hpp"
#include "cli/inputs.hpp"
#include "cli/print.hpp"
#include "codegen/codegen.hpp"
#include "loop/run_directory.hpp"
#include "loop/threads.hpp"
#include "loop/time_samples.hpp"
#include "predict/forecast.hpp"
#include "predict/skill.hpp"
#include "problem/workload_costs.hpp"
#include "record/peak_times.hpp"

namespace kw {
namespace {

using PredictJson = nlohmann::ordered_json;

constexpr std::size_t k_candidates = 4000;
constexpr std::uint64_t k_candidate_seed = 1;

Result<std::vector<TimeSample>> learnt_from(const PredictOptions& options) {
  const RealFileSystem files;
  std::vector<TimeSample> samples;
  for (const auto& path : options.tables) {
    KW_TRY(const auto text, files.read(path, k_most_sweep_bytes));
    KW_TRY(const auto table, parse_sweep(text, path.string()));
    for (auto& sample : samples_of(table)) samples.push_back(std::move(sample));
  }
  const auto file = RunDirectory::archive(options.out);
  if (!files.exists(file)) return samples;
  ArchiveOptions reading;
  reading.read_only = true;
  KW_TRY(const auto archive, open_archive(file, reading));
  KW_TRY(auto archived, archived_samples(*archive));
  warn_of_damage(*archive);
  for (auto& sample : archived) samples.push_back(std::move(sample));
  return samples;
}

/// A device of this machine has no peaks until they are measured: those that its samples were made with serve.
Result<DeviceFacts> asked_device(const PredictOptions& options, const std::vector<TimeSample>& samples) {
  const Language* language = find_language(options.target);
  const bool has_usual = options.device.empty() && language != nullptr && !language->default_device.empty();
  KW_TRY(auto device, has_usual ? facts_for("", options.target) : facts_of_any(options.device, options.target));
  if (device.peak_f32_flops > 0 && device.peak_bytes > 0) return device;
  for (const auto& sample : samples) {
    if (sample.subject.device.name == device.name) return sample.subject.device;
  }
  return device;
}

Result<TimeSubject> asked_subject(const PredictOptions& options, const Problem& problem,
                                  const std::vector<TimeSample>& samples) {
  KW_TRY(const auto device, asked_device(options, samples));
  const WorkloadCost work = WorkloadCosts(problem).primary();
  const auto times = peak_times(device, problem, work);
  if (!times) {
    return fail(Error{errc::predict_too_little, fmt::format("the peaks of {} are not known", device.name),
                      "name a device whose peaks are, such as h200, or a file that states them"});
  }
  const std::string style = options.style.empty() ? fastest_style(problem, options.target, device) : options.style;
  return TimeSubject{problem.name,           problem.op, std::string(to_string(problem.outputs.front().dtype)),
                     problem.primary().axes, work.flops, work.bytes,
                     options.target,         style,      device,
                     times->bound_ns()};
}

std::string values_text(const IntBindings& assignment) {
  return join(assignment, " ", [](const auto& one) { return fmt::format("{}={}", one.first, one.second); });
}

PredictJson time_json(const ForecastTime& time) {
  PredictJson json = {{"expected_ns", time.expected_ns}, {"low_ns", time.ns.low}, {"high_ns", time.ns.high}};
  json["assignment"] = time.assignment;
  return json;
}

void print_forecast(const TimeSubject& subject, const Forecast& said, bool json) {
  if (json) {
    PredictJson object = {
        {"problem", subject.problem},    {"target", subject.target},        {"style", subject.style},
        {"device", subject.device.name}, {"bound_ns", said.bound_ns},       {"first", time_json(said.first)},
        {"best", time_json(said.best)},  {"coverage", k_forecast_coverage}, {"candidates", said.candidates},
        {"samples", said.samples},       {"problems", said.problems},       {"shapes", said.shapes},
        {"devices", said.devices},       {"new", to_string(said.novelty)}};
    std::fputs((object.dump() + "\n").c_str(), stdout);
    return;
  }
  const auto line = [](const char* name, const ForecastTime& time) {
    print_text("{:<9}{:.4g} ms [{:.4g}, {:.4g}]   {}\n", name, time.expected_ns / 1e6, time.ns.low / 1e6,
               time.ns.high / 1e6, values_text(time.assignment));
  };
  print_text("{} on {}, style {}\n\n", subject.problem, subject.device.name, subject.style);
  print_text("bound    {:.4g} ms, what the device's peaks allow\n", said.bound_ns / 1e6);
  line("default", said.first);
  line("best", said.best);
  print_text(
      "\nforetold, not measured: intervals hold for {:.0f} % of kernels, by errors on what was as new.\n"
      "new here: {}. rests on {} timed kernels of {} problems in {} shapes on {}; best of {} candidates\n",
      100 * k_forecast_coverage, to_string(said.novelty), said.samples, said.problems, said.shapes, join(said.devices),
      said.candidates);
}

/// One line for each way of being new.
Result<ExitCode> print_skill(const std::vector<TimeSample>& samples, bool json) {
  PredictJson lines = PredictJson::array();
  if (!json) {
    print_text("{:<10}{:>8}{:>8}{:>20}{:>20}{:>20}\n", "", "", "", "rank in group", "rank of all", "median error");
    print_text("{:<10}{:>8}{:>8}{:>10}{:>10}{:>10}{:>10}{:>10}{:>10}\n", "new", "kernels", "groups", "model", "style",
               "model", "bound", "model", "bound");
  }
  for (const Novelty novelty : {Novelty::nothing, Novelty::shape, Novelty::problem, Novelty::device}) {
    KW_TRY(const auto predictions, hold_out(samples, novelty));
    if (predictions.empty()) {
      if (!json) print_text("{:<10}there is only one\n", to_string(novelty));
      continue;
    }
    const Skill skill = skill_of(samples, predictions);
    lines.push_back({{"held_out", to_string(novelty)},
                     {"samples", skill.samples},
                     {"groups", skill.groups},
                     {"rank_in_group", skill.rank_in_group},
                     {"style_rank_in_group", skill.style_rank_in_group},
                     {"rank", skill.rank},
                     {"roofline_rank", skill.roofline_rank},
                     {"median_error", skill.error},
                     {"roofline_median_error", skill.roofline_error}});
    if (json) continue;
    print_text("{:<10}{:>8}{:>8}{:>10.2f}{:>10.2f}{:>10.2f}{:>10.2f}{:>9.0f}%{:>9.0f}%\n", to_string(novelty),
               skill.samples, skill.groups, skill.rank_in_group, skill.style_rank_in_group, skill.rank,
               skill.roofline_rank, 100 * skill.error, 100 * skill.roofline_error);
  }
  if (json) std::fputs((PredictJson{{"held_out", lines}}.dump() + "\n").c_str(), stdout);
  return ExitCode::success;
}

}  // namespace

Result<ExitCode> run_predict(const PredictOptions& options) {
  if (options.input.problem.empty() && !options.held_out) {
    return fail(Error{errc::command_line, "predict wants a problem", "name one, or add --held-out"});
  }
  KW_TRY(const auto samples, learnt_from(options));
  if (options.held_out) return print_skill(samples, options.json);
  KW_TRY(const auto problem, read_problem(options.input));
  KW_TRY(const auto subject, asked_subject(options, problem, samples));
  KW_TRY(const auto candidates,
         candidates_to_foretell(problem, subject, k_candidates, k_candidate_seed, parallel_for(usable_processors())));
  if (candidates.empty()) {
    return fail(Error{
        errc::predict_too_little,
        fmt::format("style {} has no legal kernel for {} on {}", subject.style, problem.name, subject.device.name),
        "choose another one with --style"});
  }
  KW_TRY(const auto said, forecast(samples, candidates));
  print_forecast(subject, said, options.json);
  return ExitCode::success;
}

}  // namespace kw

// What came out: the best kernel, how it compares, and its source.

#include <algorithm>

#include "base/text.hpp"
#include "language/language.hpp"
#include "record/dispatch.hpp"
#include "report/format.hpp"
#include "report/sections.hpp"

namespace kw {
namespace {

Table baselines_table(const RunRecord& run, const RunSummary& summary) {
  Table table{"baselines",
              "Baselines, measured in the same run",
              {{"name", "Kernel"},
               {"time", "Time", true},
               {"speedup", "Best is faster by", true},
               {"decision", "Decision"},
               {"pairs", "Pairs", true},
               {"discarded", "Discarded", true}},
              {},
              "No baseline was measured."};
  for (std::size_t i = 0; i < run.baselines.size(); ++i) {
    const BaselineRecord& baseline = run.baselines[i];
    std::vector<Value> row{baseline.name, time_of(baseline.median_ns, baseline.ci_ns), {}, {}, {}, {}};
    if (i < summary.speedups.size()) {
      const Speedup& speedup = summary.speedups[i];
      if (speedup.versus) {
        row[3] = std::string(to_string(speedup.versus->decision));
        row[4] = counted(speedup.versus->pairs);
        row[5] = counted(speedup.versus->discarded_pairs);
      } else {
        row[3] = std::string("not compared in pairs; the medians are divided");
      }
      if (speedup.stands()) row[2] = ratio_of(speedup);
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

Bars time_bars(const RunRecord& run, const Measurement& best) {
  Bars bars{"times", "Time of the primary workload, shorter is better", {}};
  for (const auto& baseline : run.baselines) {
    bars.bars.push_back({baseline.name, time_of(baseline.median_ns, baseline.ci_ns), false});
  }
  bars.bars.push_back({"best", time_of(best.median_ns, best.ci_ns), true});
  return bars;
}

std::string samples_note(const Measurement& best) {
  if (best.samples == 1) return "one sample, which gives no interval";
  return fmt::format("median of {} samples, {:.0f} % interval", best.samples, best.ci_ns.confidence * 100);
}

Facts best_facts(const RunRecord& run, const RunSummary& summary) {
  const Attempt& attempt = *summary.best;
  const Measurement& best = *summary.best_measured;
  Facts facts{"best", "The best kernel", {}};
  facts.facts = {
      {"time", "Time", time_of(best.median_ns, best.ci_ns), samples_note(best)},
      throughput_fact(run, best),
      {"roofline_fraction", "Roofline", roofline_of(best),
       best.roofline_fraction ? "of the bound at the device's measured peaks" : "no measured peaks for this device"}};
  if (auto copy = copy_fact(best)) facts.facts.push_back(std::move(*copy));
  facts.facts.push_back({"candidate", "Candidate",
                         fmt::format("{} (number {})", attempt.candidate.id().short_hex(), attempt.ordinal),
                         attempt.origin});
  facts.facts.push_back({"tunables", "Tunables", text_or_nothing(assignment_text(attempt.candidate))});
  facts.facts.push_back({"path", "File", text_or_nothing(run.best_path)});
  return facts;
}

/// Of a kernel that no device has timed.
Facts untimed_facts(const RunRecord& run, const Attempt& attempt) {
  return {"best",
          "The best kernel by static estimate, not timed",
          {{"time", "Time", std::string("not measured"), run.device.id + " is a simulator"},
           {"candidate", "Candidate",
            fmt::format("{} (number {})", attempt.candidate.id().short_hex(), attempt.ordinal), attempt.origin},
           {"tunables", "Tunables", text_or_nothing(assignment_text(attempt.candidate))},
           {"path", "File", text_or_nothing(run.best_path)}}};
}

}  // namespace

/// For a longer look by hand than the gates take: the kernel is launched outside the sandbox, by a script of the source
/// tree.
std::vector<std::string> closer_look(const RunRecord& run) {
  const Language* language = find_language(run.target);
  const bool has_tools = language != nullptr && language->hand_tools && run.device.kind == DeviceKind::gpu;
  if (!has_tools || run.best_path.empty()) return {};
  const HandTools& tools = *language->hand_tools;
  const std::string problem = run.problem_input ? *run.problem_input : shell_word(run.problem);
  const std::string ordinal = run.device.id.substr(std::min(run.device.id.find(':') + 1, run.device.id.size()));
  const std::string replay = fmt::format("python3 {} kernel.json {} --device {}", tools.replay, tools.binary, ordinal);
  std::vector<std::string> commands = {
      fmt::format("kernelwright build {} {} --device {} --json --binary {} > kernel.json", problem,
                  shell_word(run.best_path), shell_word(run.device.id), tools.binary)};
  for (const std::string_view watcher : tools.watchers) commands.push_back(fmt::format("{} {}", watcher, replay));
  return commands;
}

Fact throughput_fact(const RunRecord& run, const Measurement& measured) {
  if (measured.gflops > 0 || run.useful_bytes <= 0) {
    const Value rate = measured.gflops > 0
                           ? Value(Number{measured.gflops, Unit::gflops, rate_interval(measured.gflops, measured)})
                           : Value();
    return {"gflops", "Throughput", rate, "useful operations over the median"};
  }
  const double rate = run.useful_bytes / measured.median_ns * 1e9;
  return {"bytes_per_second", "Throughput", Number{rate, Unit::bytes_per_second, rate_interval(rate, measured)},
          "inputs read and outputs written, over the median"};
}

std::optional<Fact> copy_fact(const Measurement& measured) {
  if (!measured.beside_copy) return std::nullopt;
  const BesideCopy& copy = *measured.beside_copy;
  return Fact{"copy_fraction", "Beside a copy",
              Number{copy.share, Unit::share, copy.ci.confidence > 0 ? std::optional(copy.ci) : std::nullopt},
              fmt::format("of the rate of a copy in turn, {} pairs", copy.pairs)};
}

Value roofline_of(const Measurement& measured) {
  if (!measured.roofline_fraction) return {};
  return Number{*measured.roofline_fraction, Unit::share, rate_interval(*measured.roofline_fraction, measured)};
}

Number ratio_of(const Speedup& speedup) {
  Number ratio{speedup.ratio, Unit::times, std::nullopt};
  if (speedup.versus && speedup.versus->speedup_ci.confidence > 0) ratio.spread = speedup.versus->speedup_ci;
  return ratio;
}

Section result_section(const RunRecord& run, const RunSummary& summary) {
  Section section{"result", "What came out", {}};
  if (summary.best != nullptr && summary.best_measured) {
    section.blocks.emplace_back(best_facts(run, summary));
    section.blocks.emplace_back(time_bars(run, *summary.best_measured));
    add_machine_evidence(summary, section);
  } else if (summary.best != nullptr) {
    section.blocks.emplace_back(untimed_facts(run, *summary.best));
    add_machine_evidence(summary, section);
  } else {
    section.blocks.emplace_back(Paragraph{
        "No candidate passed every gate, so there is no best kernel. The rejections below say what went wrong."});
  }
  section.blocks.emplace_back(baselines_table(run, summary));
  return section;
}

Section kernel_section(const RunRecord& run, const RunSummary& summary) {
  Section section{"kernel", "The kernel", {}};
  if (summary.best == nullptr) {
    section.blocks.emplace_back(Paragraph{"There is none."});
    return section;
  }
  std::string caption = "Bundle " + summary.best->candidate.bundle.id().short_hex();
  if (const auto tunables = assignment_text(summary.best->candidate); !tunables.empty()) caption += " with " + tunables;
  const Language* language = find_language(run.target);
  const std::string fence(language == nullptr ? "" : language->fence);
  section.blocks.emplace_back(Code{"source", caption, fence, summary.best->candidate.bundle.to_text()});
  if (const auto commands = closer_look(run); !commands.empty()) {
    section.blocks.emplace_back(
        Code{"commands",
             "Memory errors, races and a profile of this kernel, with the toolkit's own programs, from the source tree",
             "sh", fmt::format("{}\n", join(commands, "\n")), true});
  }
  return section;
}

}  // namespace kw

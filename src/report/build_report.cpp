#include <algorithm>

#include "report/format.hpp"
#include "report/report.hpp"
#include "report/sections.hpp"

namespace kw {
namespace {

/// Gates run in order, so the later a candidate stopped, the more there is to say about why none came through.
std::string failure_headline(const RunSummary& summary) {
  const CandidateCounts& counts = summary.counts;
  if (counts.proposed == 0) return "No candidate was tried, so there is no kernel to report.";
  if (counts.correct == 0) {
    return fmt::format("None of {} candidates was correct: {} built, none passed the check.", counts.proposed,
                       counts.built);
  }
  return fmt::format("No kernel was accepted: of {} candidates, {} were correct, and none passed every gate.",
                     counts.proposed, counts.correct);
}

std::string headline(const RunRecord& run, const RunSummary& summary) {
  if (summary.best != nullptr && !summary.best_measured && run.device.kind == DeviceKind::simulator) {
    return "A verified kernel was found on a simulator. No time was measured: the best kernel is the one with the "
           "lowest static estimate among those that passed every check, which says nothing about its speed.";
  }
  if (summary.best == nullptr || !summary.best_measured) return failure_headline(summary);
  const Measurement& best = *summary.best_measured;
  const bool sanitized = passed(summary.best->verdict, GateId::sanitize);
  std::string text = (sanitized ? "A verified kernel runs in " : "A verified kernel (not sanitized) runs in ") +
                     format_value(time_of(best.median_ns, best.ci_ns));
  for (const auto& speedup : summary.speedups) {
    if (!speedup.stands()) {
      text += fmt::format(", and how it compares with the {} baseline is undecided", speedup.name);
      continue;
    }
    text += fmt::format(", {} the speed of the {} baseline", format_parts(ratio_of(speedup)).value(), speedup.name);
  }
  return text + ".";
}

std::string status_note(const RunRecord& run) {
  switch (run.status) {
    case RunStatus::running:
      return "The run has not ended: it is still going on, or was killed and can be resumed.";
    case RunStatus::interrupted:
      return "The run was interrupted; it can be resumed.";
    case RunStatus::exhausted:
      return "The run ended before its budget, because the proposer had nothing left to try.";
    case RunStatus::failed:
      return "The run failed: " + run.failure;
    case RunStatus::finished:
      break;
  }
  return "";
}

std::string pairs_note(const Speedup& speedup) {
  if (!speedup.versus) return "medians divided";
  const double confidence = speedup.versus->speedup_ci.confidence;
  if (!(confidence > 0)) return "one interleaved pair, which gives no interval";
  return fmt::format("{} interleaved pairs, {:.4g} % interval", speedup.versus->pairs, confidence * 100);
}

std::vector<Fact> highlights(const RunRecord& run, const RunSummary& summary) {
  std::vector<Fact> facts;
  if (summary.best != nullptr && summary.best_measured) {
    const Measurement& best = *summary.best_measured;
    facts.push_back({"best_time", "Best time", time_of(best.median_ns, best.ci_ns),
                     best.ci_ns.confidence > 0 ? fmt::format("median, {:.4g} % interval", best.ci_ns.confidence * 100)
                                               : "one sample, which gives no interval"});
    for (const auto& speedup : summary.speedups) {
      const Value ratio = speedup.stands() ? Value(ratio_of(speedup)) : Value(std::string("undecided"));
      facts.push_back({"speedup_" + speedup.name, "Versus " + speedup.name, ratio, pairs_note(speedup)});
    }
    if (best.gflops > 0 || run.useful_bytes > 0) facts.push_back(throughput_fact(run, best));
    if (best.roofline_fraction) {
      facts.push_back({"roofline_fraction", "Roofline", roofline_of(best), "of the bound at measured peaks"});
    }
    if (auto copy = copy_fact(best)) facts.push_back(std::move(*copy));
  }
  const CandidateCounts& counts = summary.counts;
  facts.push_back({"candidates", "Candidates", counted(counts.proposed), fmt::format("{} correct", counts.correct)});
  return facts;
}

}  // namespace

ReportModel build_report(const RunRecord& run, std::span<const Attempt> attempts, std::span<const Turn> turns) {
  const RunSummary summary = summarize(run, attempts);
  ReportModel model;
  model.run_id = run.id;
  model.title = run.problem + " on " + run.device.name;
  model.headline = headline(run, summary);
  if (const std::string note = status_note(run); !note.empty()) model.headline += " " + note;
  model.highlights = highlights(run, summary);
  model.sections = {result_section(run, summary),   asked_section(run),
                    evidence_section(run, summary), search_section(run, attempts, turns, summary),
                    kernel_section(run, summary),   environment_section(run)};
  if (run.model_use) {
    const auto kernel = std::find_if(model.sections.begin(), model.sections.end(),
                                     [](const Section& section) { return section.key == "kernel"; });
    model.sections.insert(kernel, model_section(run, attempts, turns));
  }
  return model;
}

}  // namespace kw

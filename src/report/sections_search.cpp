// How the best kernel was found: every candidate, and why the others were rejected.

#include <algorithm>
#include <cmath>
#include <tuple>

#include "record/dispatch.hpp"
#include "report/format.hpp"
#include "report/sections.hpp"

namespace kw {
namespace {

const Versus* versus_incumbent(const Attempt& attempt) {
  if (!attempt.measurement) return nullptr;
  for (const auto& versus : attempt.measurement->versus) {
    if (versus.name == "incumbent") return &versus;
  }
  return nullptr;
}

/// "rejected: wrong_result", "accepted", "unverified".
std::string verdict_text(const Verdict& verdict) {
  std::string text(to_string(verdict.status));
  if (verdict.status == VerdictStatus::rejected) text += ": " + std::string(to_string(verdict.reason));
  return text;
}

Progress::Outcome outcome_of(const Attempt& attempt) {
  if (!attempt.verdict.right_so_far()) return Progress::Outcome::rejected;
  if (!attempt.measurement) return Progress::Outcome::untimed;
  return attempt.became_best ? Progress::Outcome::best : Progress::Outcome::timed;
}

std::string point_label(const Attempt& attempt) {
  std::string text = fmt::format("candidate {}, {}", attempt.ordinal, verdict_text(attempt.verdict));
  if (attempt.measurement)
    text += ", " + format_value(time_of(attempt.measurement->median_ns, attempt.measurement->ci_ns));
  if (!attempt.verdict.message.empty()) text += ": " + attempt.verdict.message;
  return text;
}

Progress progress_chart(const RunRecord& run, std::span<const Attempt> attempts) {
  Progress chart{"progress", "Best time over the budget, and every candidate", {}, {}, run.used.wall_seconds};
  for (const auto& attempt : attempts) {
    Progress::Point point{attempt.ordinal, attempt.elapsed_seconds, std::nullopt, outcome_of(attempt),
                          point_label(attempt)};
    if (attempt.measurement && attempt.verdict.right_so_far()) point.time_ns = attempt.measurement->median_ns;
    chart.points.push_back(std::move(point));
    chart.end_seconds = std::max(chart.end_seconds, attempt.elapsed_seconds);
  }
  for (const auto& baseline : run.baselines) chart.baselines.push_back({baseline.name, baseline.median_ns});
  return chart;
}

Facts count_facts(const CandidateCounts& counts, const RunRecord& run) {
  Facts facts{"counts",
              "Candidates",
              {{"proposed", "Proposed", counted(counts.proposed)},
               {"built", "Built", counted(counts.built)},
               {"correct", "Correct", counted(counts.correct)},
               {"timed", "Timed", counted(counts.timed)}}};
  if (counts.screened > 0) {
    facts.facts.push_back({"screened", "Screened", counted(counts.screened),
                           "right as far as looked at, and too slow to be checked on everything"});
  }
  if (counts.unverified > 0) {
    facts.facts.push_back({"unverified", "Undecided", counted(counts.unverified), "the harness could not decide"});
  }
  if (counts.proposed > 0 && run.used.wall_seconds > 0) {
    const double rate = 60 * static_cast<double>(counts.proposed) / run.used.wall_seconds;
    facts.facts.push_back({"per_minute", "Rate", Number{rate, Unit::plain, std::nullopt}, "candidates per minute"});
  }
  return facts;
}

/// The harness has no reason where it could not decide.
std::string reason_text(Reason reason) {
  return reason == Reason::none ? "undecided" : std::string(to_string(reason));
}

Table rejections_table(std::span<const Attempt> attempts) {
  struct Group {
    std::int64_t count = 0;
    std::string example;
  };
  std::map<std::pair<GateId, Reason>, Group> groups;
  for (const auto& attempt : attempts) {
    const Verdict& verdict = attempt.verdict;
    if (verdict.right_so_far() || !verdict.failed_gate) continue;
    Group& group = groups[{*verdict.failed_gate, verdict.reason}];
    if (group.count++ == 0) group.example = fmt::format("{}: {}", attempt.ordinal, verdict.message);
  }
  Table table{"rejections",
              "Rejected and undecided, by gate and reason",
              {{"gate", "Gate"}, {"reason", "Reason"}, {"count", "Count", true}, {"example", "First one"}},
              {},
              attempts.empty() ? "There were no candidates." : "No candidate was rejected, and none is undecided."};
  for (const auto& [key, group] : groups) {
    table.rows.push_back(
        {std::string(to_string(key.first)), reason_text(key.second), counted(group.count), group.example});
  }
  return table;
}

std::vector<Value> candidate_row(const Attempt& attempt) {
  std::vector<Value> row{counted(attempt.ordinal),
                         text_or_nothing(attempt.origin),
                         text_or_nothing(assignment_text(attempt.candidate)),
                         verdict_text(attempt.verdict) + (attempt.became_best ? ", new best" : ""),
                         {},
                         {},
                         Number{attempt.elapsed_seconds, Unit::seconds, std::nullopt}};
  if (attempt.measurement) row[4] = time_of(attempt.measurement->median_ns, attempt.measurement->ci_ns);
  if (const Versus* versus = versus_incumbent(attempt)) {
    row[5] = Number{versus->speedup, Unit::times, versus->speedup_ci};
  }
  return row;
}

Table candidates_table(std::span<const Attempt> attempts) {
  Table table{"candidates",
              "Every candidate",
              {{"ordinal", "No.", true},
               {"origin", "Origin"},
               {"tunables", "Tunables"},
               {"verdict", "Verdict"},
               {"time", "Time", true},
               {"versus_incumbent", "Speed vs. best so far", true},
               {"elapsed", "At", true}},
              {},
              "There were no candidates."};
  for (const auto& attempt : attempts) table.rows.push_back(candidate_row(attempt));
  return table;
}

}  // namespace

Section search_section(const RunRecord& run, std::span<const Attempt> attempts, std::span<const Turn> turns,
                       const RunSummary& summary) {
  Section section{"search", "How it was found", {}};
  if (!attempts.empty()) {
    section.blocks.emplace_back(progress_chart(run, attempts));
    for (auto& curve : speed_curves(run, attempts, turns)) section.blocks.emplace_back(std::move(curve));
    section.blocks.emplace_back(count_facts(summary.counts, run));
    section.blocks.emplace_back(rejections_table(attempts));
  }
  if (!run.time_uses.empty()) section.blocks.emplace_back(time_table(run));
  section.blocks.emplace_back(candidates_table(attempts));
  return section;
}

}  // namespace kw

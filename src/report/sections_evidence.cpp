// Why the best kernel may be believed, and how far.

#include <algorithm>

#include "base/text.hpp"
#include "measure/measure.hpp"
#include "report/format.hpp"
#include "report/sections.hpp"

namespace kw {
namespace {

std::string join_or(const char* none, const std::vector<std::string>& items) {
  return items.empty() ? none : join(items);
}

std::string gates_text(const Verdict& verdict) {
  std::vector<std::string> names;
  for (const GateId gate : verdict.gates_passed) names.emplace_back(to_string(gate));
  return join_or("none", names);
}

std::string determinism_text(const Bundle& bundle) {
  if (bundle.deterministic) return "two runs on the same data agreed to the bit";
  return "the bundle says its last bits may differ; two runs agreed within the tolerance";
}

/// What the sanitize gate says of the best kernel; a gate that had nothing to go by says so.
std::string sanitized_text(const Verdict& verdict) {
  std::vector<std::string> said;
  for (const auto& evidence : verdict.evidence) {
    if (evidence.gate == GateId::sanitize) said.push_back(evidence.text);
  }
  return join_or("not sanitized", said);
}

bool simulated(const RunRecord& run) {
  return run.device.kind == DeviceKind::simulator;
}

std::string sanitizers_text(const RunRecord& run) {
  return join_or(simulated(run) ? "the simulator itself" : "none ran", run.sanitizers);
}

/// Of the best kernel: the check that it came nearest to failing; null where none was recorded.
const AccuracyRow* largest_share(const RunRecord& run) {
  const auto share = [](const AccuracyRow& row) { return row.allowed > 0 ? row.max_error / row.allowed : 0.0; };
  const auto worst = std::ranges::max_element(run.best_accuracy, {}, share);
  return worst != run.best_accuracy.end() && worst->allowed > 0 ? &*worst : nullptr;
}

Facts evidence_facts(const RunRecord& run, const RunSummary& summary) {
  Facts facts{"verifier",
              "The verifier",
              {{"tier", "Sandbox tier", text_or_nothing(run.sandbox_tier), "as probed by a hostile child at the start"},
               {"workloads", "Workloads", join_or("none", run.workloads), ""},
               {"distributions", "Inputs", join_or("none", run.distributions), "secret seeds"},
               {"sanitizers", "Sanitizers", sanitizers_text(run)}}};
  if (summary.best == nullptr) return facts;
  facts.facts.push_back({"gates", "Gates the best passed", gates_text(summary.best->verdict)});
  facts.facts.push_back({"sanitized", "Sanitize gate", sanitized_text(summary.best->verdict)});
  if (passed(summary.best->verdict, GateId::check)) {
    facts.facts.push_back({"determinism", "Determinism", determinism_text(summary.best->candidate.bundle)});
  }
  if (const AccuracyRow* worst = largest_share(run)) {
    facts.facts.push_back(
        {"largest_error", "Largest error", Number{worst->max_error / worst->allowed, Unit::share, std::nullopt},
         fmt::format("of what is allowed, on {} with {} inputs", worst->workload, worst->distribution)});
  }
  return facts;
}

Table accuracy_table(const RunRecord& run) {
  Table table{"accuracy",
              "Largest error of the best kernel against the float64 oracle, relative to the size of its row",
              {{"workload", "Workload"},
               {"distribution", "Inputs"},
               {"max_error", "Largest error", true},
               {"allowed", "Allowed", true},
               {"used", "Share of allowed", true}},
              {},
              "No accuracy was recorded."};
  for (const auto& row : run.best_accuracy) {
    Value share;
    if (row.allowed > 0) share = Number{row.max_error / row.allowed, Unit::share, std::nullopt};
    table.rows.push_back({row.workload, row.distribution, Number{row.max_error, Unit::plain, std::nullopt},
                          Number{row.allowed, Unit::plain, std::nullopt}, share});
  }
  return table;
}

std::string timing_rule() {
  const ComparisonRule rule = search_rule();
  return fmt::format(
      "Times are medians of launches with cold caches and fresh data, and the outputs of timed launches are checked. "
      "Two kernels are compared in interleaved pairs, the order alternating, by the median of the logarithm of their "
      "ratio with a bootstrap interval. While searching, a candidate meets the best so far: a decision is allowed "
      "after "
      "{} to {} pairs at fixed looks that share an error probability of {:.0f} %, and comparing ends once \"faster\" "
      "is "
      "ruled out, or at a look that decides nothing after {:.1f} s of launches; kernels within {:.0f} % of each other "
      "are called equivalent, and where no decision is reached the "
      "answer is \"undecided\". More than {:.0f} % disturbed pairs make it unreliable. The best is then compared with "
      "the baseline anew, in fresh processes, in a number of pairs fixed beforehand.",
      rule.looks.front(), rule.looks.back(), rule.total_alpha * 100, rule.enough_ns * 1e-9, rule.equivalence * 100,
      rule.max_discarded * 100);
}

void note_best(const RunSummary& summary, std::vector<std::string>& items) {
  if (summary.best == nullptr) return;
  if (summary.best_measured && !summary.remeasured) {
    items.emplace_back(
        "The best kernel was not re-measured in fresh processes: its time is the one it won with, which "
        "favours lucky samples.");
  }
  if (summary.best_measured && !summary.best_measured->roofline_fraction) {
    items.emplace_back("The distance to the roofline: the device's peaks were not measured.");
  }
  if (!summary.best->candidate.bundle.deterministic) {
    items.emplace_back("Equality of two runs to the bit: the bundle declares that its last bits may differ.");
  }
  const bool weak =
      std::any_of(summary.speedups.begin(), summary.speedups.end(), [](const Speedup& s) { return !s.versus; });
  if (weak) {
    items.emplace_back(
        "Some baseline was not compared in interleaved pairs; its speed-up divides medians taken at "
        "different moments.");
  }
}

Notes not_checked(const RunRecord& run, const RunSummary& summary) {
  Notes notes{"not_checked", "What was not checked", {}};
  auto& items = notes.items;
  if (simulated(run)) {
    items.emplace_back("Time: a simulator measures none. Kernels were ranked by an estimate from their source alone.");
    if (std::find(run.workloads.begin(), run.workloads.end(), "primary") == run.workloads.end()) {
      items.emplace_back("Correctness on the primary workload: it is too large to simulate.");
    }
    if (run.cases_left_out) {
      items.push_back(
          fmt::format("Correctness on {} pairs of workload and inputs: to simulate all of them takes too long, so each "
                      "workload was checked on some kinds of inputs. `kernelwright verify` checks all of them.",
                      *run.cases_left_out));
    }
  }
  if (run.sampled_rows) {
    items.push_back(
        fmt::format("Large workloads in full against the oracle, which would take too long: it answers {} rows for "
                    "each kind of inputs, and other rows of timed launches; where those take it long, the plain kernel "
                    "answers all but the first. All rows are compared with the plain kernel, which agrees with the "
                    "oracle in those.",
                    *run.sampled_rows));
  }
  if (run.sanitizers.empty() && !simulated(run)) {
    items.emplace_back(
        "No sanitizer ran: out-of-bounds writes were looked for through guard zones and poisoned outputs, "
        "races through repeated runs; reads outside a buffer could go unnoticed.");
  }
  if (!run.sanitizers.empty() && summary.best != nullptr && !simulated(run) &&
      !passed(summary.best->verdict, GateId::sanitize)) {
    items.push_back("The best kernel under a sanitizer: " + sanitized_text(summary.best->verdict) + ".");
  }
  if (run.sandbox_tier == "none") {
    items.emplace_back("Candidates were not contained: the sandbox enforced nothing on this machine.");
  }
  note_best(summary, items);
  items.emplace_back("Speed on other sizes than the primary workload, and on other devices than " +
                     (run.device.name.empty() ? "this one" : run.device.name) + ".");
  items.emplace_back("Correctness on other workloads and inputs than the ones listed.");
  return notes;
}

}  // namespace

Section evidence_section(const RunRecord& run, const RunSummary& summary) {
  Section section{"evidence", "The evidence", {evidence_facts(run, summary)}};
  if (summary.best != nullptr) section.blocks.emplace_back(accuracy_table(run));
  section.blocks.emplace_back(Paragraph{timing_rule()});
  section.blocks.emplace_back(not_checked(run, summary));
  return section;
}

}  // namespace kw

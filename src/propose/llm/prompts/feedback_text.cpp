#include "propose/llm/prompts/feedback_text.hpp"

#include <algorithm>

#include "base/fenced_text.hpp"
#include "propose/llm/prompts/compiler_errors.hpp"
#include "propose/llm/prompts/machine_code_text.hpp"
#include "propose/llm/prompts/memory_text.hpp"
#include "propose/llm/prompts/task_text.hpp"
#include "propose/llm/replies/code_blocks.hpp"
#include "record/named_lines.hpp"

namespace kw {
namespace {

constexpr std::size_t k_max_seen_bytes = 6000;
constexpr std::size_t k_max_errors = 3;

std::string without_last_newline(std::string text) {
  if (!text.empty()) text.pop_back();
  return text;
}

/// The sentence, unless a note says it too, then what the failing gate noted for everybody.
std::string visible_text(const Verdict& verdict) {
  std::string notes;
  for (const auto& evidence : verdict.evidence) {
    if (evidence.hidden || evidence.gate != verdict.failed_gate) continue;
    notes += (notes.empty() ? "" : "\n") + evidence.text;
  }
  if (notes.find(verdict.message) != std::string::npos) return notes;
  return notes.empty() ? verdict.message : verdict.message + "\n" + notes;
}

std::string bounded(const std::string& text, std::size_t most) {
  return text.size() <= most ? text : text.substr(0, most) + "\n(cut off here)";
}

std::string speedup_line(const Versus& versus) {
  return fmt::format(
      "* Against the best kernel at that time: {}; {:.3g} times as fast ({:.3g} % interval {:.3g} to {:.3g}, "
      "{} pairs).\n",
      to_string(versus.decision), versus.speedup, 100 * versus.speedup_ci.confidence, versus.speedup_ci.low,
      versus.speedup_ci.high, versus.pairs);
}

std::string time_lines(const PromptContext& context, const Measurement& m) {
  std::string text = fmt::format("* Time: {} ({:.3g} % interval {} to {}, {} samples{}).\n", time_text(m.median_ns),
                                 100 * m.ci_ns.confidence, time_text(m.ci_ns.low), time_text(m.ci_ns.high), m.samples,
                                 m.stopped_early ? "; stopped early, being clearly slower" : "");
  if (context.plain.median_ns > 0 && m.median_ns > 0) {
    text += fmt::format("* The plain kernel takes {}: this one is {:.3g} times as fast.\n",
                        time_text(context.plain.median_ns), context.plain.median_ns / m.median_ns);
  }
  for (const auto& versus : m.versus) {
    if (versus.name == "incumbent") text += speedup_line(versus);
  }
  if (m.gflops > 0) {
    text += fmt::format("* {:.3g} GFLOP/s of useful work", m.gflops);
    if (const auto share = bound_share(context, m)) {
      text += *share > 1 ? ", faster than the bound that was computed from the peaks, which is no guide here"
                         : fmt::format(", {:.0f} % of the roofline bound", 100 * *share);
    }
    text += ".\n";
  }
  return text;
}

/// What the hardware did in one launch: facts, with their units.
std::string counter_line(const HardwareCounters& c) {
  const auto percent = [](double share) { return fmt::format("{:.0f} %", 100 * share); };
  const auto megabytes = [](double bytes) { return fmt::format("{:.4g} MB", bytes / 1e6); };
  std::vector<std::string> parts;
  if (c.duration_ns) parts.push_back(time_text(*c.duration_ns));
  if (c.dram_read_bytes) parts.push_back(megabytes(*c.dram_read_bytes) + " read from device memory");
  if (c.dram_write_bytes) parts.push_back(megabytes(*c.dram_write_bytes) + " written to it");
  if (c.dram_peak_share) parts.push_back("device memory at " + percent(*c.dram_peak_share) + " of its peak rate");
  if (c.l2_hit_share) parts.push_back(percent(*c.l2_hit_share) + " of L2 accesses hit");
  if (c.tensor_pipe_share) parts.push_back("tensor cores busy " + percent(*c.tensor_pipe_share) + " of the cycles");
  if (c.achieved_occupancy) parts.push_back("achieved occupancy " + percent(*c.achieved_occupancy));
  if (c.issue_share) parts.push_back("schedulers issue in " + percent(*c.issue_share) + " of the cycles");
  if (c.registers_per_thread) parts.push_back(fmt::format("{} registers per thread", *c.registers_per_thread));
  for (const StallReason& stall : c.stalls) {
    parts.push_back(fmt::format("{} of warp samples stalled by {}", percent(stall.share), one_line(stall.name, 60)));
  }
  if (c.sectors_per_load) {
    parts.push_back(fmt::format("{:.3g} sectors of 32 bytes for one load of a warp", *c.sectors_per_load));
  }
  if (c.bank_conflict_share) {
    parts.push_back(percent(*c.bank_conflict_share) + " of the passes over shared memory are bank conflicts");
  }
  if (c.divergent_branch_share) parts.push_back(percent(*c.divergent_branch_share) + " of branches divide a warp");
  for (const InstructionShare& one : c.instructions) {
    parts.push_back(fmt::format("{} of executed instructions are {}", percent(one.share), one_line(one.name, 60)));
  }
  return fmt::format("* The hardware counted, in one cold launch of {}: {}.\n", one_line(c.kernel, 100),
                     fmt::join(parts, ", "));
}

std::string build_line(const BuildReport& build) {
  std::vector<std::string> parts;
  if (build.registers) parts.push_back(fmt::format("{} registers per thread", *build.registers));
  if (build.spill_bytes) parts.push_back(fmt::format("{} bytes spilled", *build.spill_bytes));
  if (build.stack_bytes) parts.push_back(fmt::format("{} bytes of stack", *build.stack_bytes));
  if (build.shared_bytes) parts.push_back(fmt::format("{} bytes of shared memory", *build.shared_bytes));
  if (build.occupancy) parts.push_back(fmt::format("occupancy {:.0f} %", 100 * *build.occupancy));
  if (build.tensor_core_instructions) {
    parts.push_back(fmt::format("{} tensor core instructions", *build.tensor_core_instructions));
  }
  return parts.empty() ? "" : fmt::format("* The compiler reports {}.\n", fmt::join(parts, ", "));
}

/// The lines of a sanitizer's or the simulator's finding: both sides of a race.
std::string finding_lines(const Attempt& attempt) {
  std::vector<CompilerError> places;
  for (const int line : named_lines(visible_text(attempt.verdict))) {
    if (places.size() < k_max_errors) places.push_back({line, 0, "named in the finding"});
  }
  if (places.empty()) return "";
  return without_last_newline(fenced("text", quote_errors(attempt.candidate.bundle, places)));
}

}  // namespace

std::string seen_text(const Attempt& attempt) {
  return without_last_newline(fenced("text", bounded(visible_text(attempt.verdict), k_max_seen_bytes)));
}

std::string errors_text(const Attempt& attempt) {
  if (attempt.verdict.reason == Reason::sanitizer_report) return finding_lines(attempt);
  if (attempt.verdict.failed_gate != GateId::build) return "";
  std::string log = visible_text(attempt.verdict);
  // The gate's sentence puts several errors on one line.
  for (std::size_t at = 0; (at = log.find("; ", at)) != std::string::npos;) log.replace(at, 2, "\n");
  const auto errors = first_compiler_errors(log, k_max_errors);
  if (errors.empty()) return "";
  return without_last_newline(fenced("text", quote_errors(attempt.candidate.bundle, errors)));
}

std::string advice_text(const PromptContext& context, const Verdict& verdict) {
  const bool undecided = verdict.status == VerdictStatus::unverified;
  const std::string key = undecided ? "unverified" : std::string(to_string(verdict.reason));
  return templates_of(context).render("reasons.md", {{key, "yes"},
                                                     {"language", language_text(context)},
                                                     {"advice", operator_text(context, "reasons", {{key, "yes"}})}});
}

std::string passed_text(const Verdict& verdict) {
  if (verdict.gates_passed.empty()) return "no gate";
  std::string text = verdict.gates_passed.size() == 1 ? "the gate" : "the gates";
  for (const GateId gate : verdict.gates_passed) {
    text += fmt::format("{}{}", gate == verdict.gates_passed.front() ? " " : ", ", to_string(gate));
  }
  return text;
}

std::string measured_text(const PromptContext& context, const Attempt& attempt) {
  std::string text = attempt.measurement ? time_lines(context, *attempt.measurement) : "* It was not timed.\n";
  text += build_line(attempt.build);
  text += machine_code_lines(attempt.build);
  if (attempt.measurement && attempt.measurement->counters) text += counter_line(*attempt.measurement->counters);
  for (const auto& evidence : attempt.verdict.evidence) {
    if (!evidence.hidden && evidence.gate == GateId::profile) text += "* " + one_line(evidence.text, 400) + ".\n";
  }
  text += access_lines_text(attempt);
  return without_last_newline(std::move(text));
}

void add_verdict(const PromptContext& context, const Attempt& last, PromptValues& values) {
  const Verdict& verdict = last.verdict;
  const bool undecided = verdict.status == VerdictStatus::unverified;
  values["status"] = undecided ? "not judged" : "rejected";
  values[undecided ? "undecided" : "rejected"] = "yes";
  values["passed"] = passed_text(verdict);
  values["gate"] = verdict.failed_gate ? std::string(to_string(*verdict.failed_gate)) : "read";
  values["reason"] = undecided ? "the verifier could not decide" : std::string(to_string(verdict.reason));
  values["advice"] = advice_text(context, verdict);
  values["seen"] = seen_text(last);
  values["errors"] = errors_text(last);
  values["last"] = kernel_text(last.candidate);
}

std::string standing_text(const Attempt& last, const Attempt& best) {
  if (last.ordinal == best.ordinal) return "It is the best kernel so far.";
  if (!best.measurement) {
    return "It is not ranked before the best kernel so far: its change is not kept. Continue from the best kernel, not "
           "from this one.";
  }
  const std::string best_time = time_text(best.measurement->median_ns);
  const bool compared = last.measurement && !last.measurement->versus.empty();
  const Comparison decision = compared ? last.measurement->versus.front().decision : Comparison::undecided;
  if (decision == Comparison::slower) {
    return fmt::format(
        "It is slower than the best kernel so far, which takes {}: its change is not kept. Continue from the "
        "best kernel, not from this one.",
        best_time);
  }
  if (decision == Comparison::faster || (!compared && last.became_best)) {
    return fmt::format(
        "It was the best kernel when it was timed; a faster one was found since, which takes {}. Continue from that "
        "one.",
        best_time);
  }
  return fmt::format(
      "It was not shown to be faster than the best kernel so far, which takes {}: its change is not kept. "
      "Continue from the best kernel, not from this one.",
      best_time);
}

}  // namespace kw

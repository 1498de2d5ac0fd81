#include "cli/progress.hpp"

#include "record/dispatch.hpp"
#include "record/useful_rate.hpp"
#include "report/escape.hpp"

namespace kw {
namespace {

std::string budget_text(const BudgetLimits& limits, const BudgetUse& used) {
  std::string text = limits.wall_seconds ? fmt::format("{:.0f}/{:.0f} s", used.wall_seconds, *limits.wall_seconds)
                                         : fmt::format("{:.0f} s", used.wall_seconds);
  text += limits.candidates ? fmt::format(", candidate {}/{}", used.candidates, *limits.candidates)
                            : fmt::format(", {} candidates", used.candidates);
  return text;
}

std::string outcome_text(const Attempt& attempt) {
  const Verdict& verdict = attempt.verdict;
  if (verdict.status == VerdictStatus::rejected) return fmt::format("rejected: {}", to_string(verdict.reason));
  if (verdict.status == VerdictStatus::unverified) return "undecided: " + verdict.message;
  if (!attempt.measurement) return "correct, not timed";
  const char* screened = verdict.status == VerdictStatus::screened ? ", screened" : "";
  return fmt::format("{:.3f} ms{}", attempt.measurement->median_ns / 1e6, screened);
}

}  // namespace

TerminalProgress::TerminalProgress(std::FILE* stream, bool terminal, const Clock& clock)
    : stream_(stream), terminal_(terminal), clock_(clock), start_(clock.now()), last_status_(start_) {}

std::string TerminalProgress::stamp() const {
  return fmt::format("{:6.1f} s  ", to_seconds(clock_.now() - start_));
}

void TerminalProgress::clear() {
  if (terminal_) std::fputs("\r\x1b[K", stream_);
  std::fflush(stream_);
}

void TerminalProgress::line(const std::string& text) {
  clear();
  std::fputs((stamp() + escape_code(text) + "\n").c_str(), stream_);
  std::fflush(stream_);
}

void TerminalProgress::status(const std::string& text) {
  if (terminal_) {
    clear();
    std::fputs((stamp() + escape_terminal(text)).substr(0, 118).c_str(), stream_);
    std::fflush(stream_);
  } else if (clock_.now() - last_status_ > std::chrono::seconds(10)) {
    last_status_ = clock_.now();
    line(text);
  }
}

void TerminalProgress::phase(const std::string& doing) {
  line(doing);
}
void TerminalProgress::warning(const std::string& text) {
  line("warning: " + text);
}

void TerminalProgress::turn(const RunRecord& run, const Turn& turn, const BudgetUse& used) {
  std::string text = fmt::format("chain {} {}: ", turn.chain, turn.purpose);
  if (turn.fault == ReplyFault::none && turn.purpose == k_judge_purpose) {
    text += fmt::format("an answer after {:.1f} s", turn.reply.seconds);
  } else if (turn.fault == ReplyFault::none) {
    text += fmt::format("a kernel after {:.1f} s", turn.reply.seconds);
  } else {
    text += fmt::format("{}: {}", to_string(turn.fault), turn.fault_message);
  }
  text += fmt::format(" ({} tokens", used.tokens);
  if (run.model_use && run.model_use->dollars) text += fmt::format(", ${:.4f}", used.dollars);
  line(text + ")");
}

void TerminalProgress::attempt(const RunRecord& run, const Attempt& attempt, const BudgetUse& used) {
  rejected_ += attempt.verdict.status == VerdictStatus::rejected ? 1 : 0;
  undecided_ += attempt.verdict.status == VerdictStatus::unverified ? 1 : 0;
  if (attempt.became_best && !attempt.measurement) {
    line(fmt::format("best by static estimate, not timed  #{} {}: {}", attempt.ordinal, attempt.origin,
                     assignment_text(attempt.candidate)));
  } else if (attempt.became_best) {
    best_ns_ = attempt.measurement->median_ns;
    const double flops = attempt.measurement->gflops * best_ns_;
    line(fmt::format("best {:9.3f} ms  {:>14}  {:5.1f}x plain  #{} {}: {}", best_ns_ / 1e6,
                     useful_rate_text(flops, run.useful_bytes, best_ns_), run.baselines.front().median_ns / best_ns_,
                     attempt.ordinal, attempt.origin, assignment_text(attempt.candidate)));
  }
  std::string text = budget_text(run.limits, used);
  if (best_ns_ > 0) text += fmt::format(", best {:.3f} ms", best_ns_ / 1e6);
  if (rejected_ > 0) text += fmt::format(", {} rejected", rejected_);
  if (undecided_ > 0) text += fmt::format(", {} undecided", undecided_);
  status(fmt::format("{}; #{} {}", text, attempt.ordinal, outcome_text(attempt)));
}

}  // namespace kw

#include "propose/llm/prompts/tried_step.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "propose/llm/replies/answer_section.hpp"
#include "propose/llm/replies/code_blocks.hpp"

namespace kw {
namespace {

constexpr std::size_t k_most_words_bytes = 120;  ///< of the analysis, and of the design

std::string tunables_of(const Attempt& attempt) {
  std::string text;
  for (const auto& [name, value] : attempt.candidate.tunables) {
    text += fmt::format("{} {} = {}", text.empty() ? ";" : ",", name, value);
  }
  return text;
}

std::string own_words(const Turn& turn, const char* title) {
  const std::string words = one_line(on_one_line(answer_section(turn.reply.text, title)), k_most_words_bytes);
  return words.empty() ? "" : fmt::format(" {}: {}", title, words);
}

}  // namespace

std::string judged_text(const Attempt& attempt) {
  const Verdict& verdict = attempt.verdict;
  if (verdict.status == VerdictStatus::unverified) return "the verifier could not judge it";
  if (!verdict.accepted()) {
    const std::string gate = verdict.failed_gate ? fmt::format(" at {}", to_string(*verdict.failed_gate)) : "";
    return fmt::format("rejected{}, {}", gate, to_string(verdict.reason));
  }
  if (!attempt.measurement) return "right, not timed";
  for (const auto& versus : attempt.measurement->versus) {
    if (versus.name != "incumbent") continue;
    return fmt::format("right, {:.3g} times as fast as the best before ({:.3g} to {:.3g}): {}", versus.speedup,
                       versus.speedup_ci.low, versus.speedup_ci.high, to_string(versus.decision));
  }
  return fmt::format("right, {:.3g} ms", attempt.measurement->median_ns * 1e-6);
}

TriedStep tried_step(const std::string& advised, const Turn& turn, const Attempt& attempt) {
  const std::string design = lower_case(answer_section(turn.reply.text, "Design"));
  const bool taken = attempt.verdict.accepted() && !design.starts_with("instead");
  return {taken ? advised : "", fmt::format("{}{}.{}{}", judged_text(attempt), tunables_of(attempt),
                                            own_words(turn, "Analysis"), own_words(turn, "Design"))};
}

}  // namespace kw

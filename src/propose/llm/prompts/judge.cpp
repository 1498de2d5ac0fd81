#include "propose/llm/prompts/judge.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "propose/llm/prompts/feedback_text.hpp"
#include "propose/llm/prompts/task_text.hpp"
#include "propose/llm/replies/answer_section.hpp"
#include "propose/llm/replies/code_blocks.hpp"

namespace kw {
namespace {

constexpr auto k_titles = std::to_array<std::string_view>({"Bottleneck", "Method", "Plan"});
constexpr std::size_t k_most_said_bytes = 700;

bool begins_another(std::string_view line, std::string_view title) {
  return std::ranges::any_of(
      k_titles, [&](std::string_view other) { return other != title && !answer_section(line, other).empty(); });
}

/// What stands behind the title, up to the next one, on one line.
std::string said_under(const std::string& answer, std::string_view title) {
  const std::string section = answer_section(answer, title);
  std::string said;
  for (std::size_t start = 0; start < section.size();) {
    const std::size_t end = std::min(section.find('\n', start), section.size());
    const std::string_view line = std::string_view(section).substr(start, end - start);
    if (begins_another(line, title)) break;
    said += (said.empty() ? "" : " ") + std::string(line);
    start = end + 1;
  }
  return one_line(said, k_most_said_bytes);
}

}  // namespace

std::vector<ChatMessage> judge_prompt(const PromptContext& context, const Attempt& last, const Attempt* best) {
  const bool right = last.verdict.accepted();
  const Attempt& kernel = right ? anchor_of(last, best) : last;
  PromptValues values{{"task", task_text(context)},
                      {"tried", tried_text(context)},
                      {"kernel", kernel_text(kernel.candidate)},
                      {right ? "right" : "wrong", "yes"}};
  if (right) {
    values["measured"] = measured_text(context, kernel);
  } else {
    PromptValues verdict;
    add_verdict(context, last, verdict);
    for (const char* name : {"status", "passed", "gate", "reason", "seen", "errors"}) values[name] = verdict[name];
  }
  return {{ChatRole::user, templates_of(context).render("judge.md", values)}};
}

std::optional<JudgeOpinion> read_judgement(const std::string& answer) {
  JudgeOpinion judgement{said_under(answer, k_titles[0]), said_under(answer, k_titles[1]),
                         said_under(answer, k_titles[2])};
  if (judgement.bottleneck.empty() && judgement.method.empty() && judgement.plan.empty()) return std::nullopt;
  return judgement;
}

std::string judgement_text(const JudgeOpinion& judgement) {
  std::string text;
  const auto add = [&](std::string_view title, const std::string& said) {
    if (!said.empty()) text += fmt::format("{}* {}: {}", text.empty() ? "" : "\n", title, said);
  };
  add(k_titles[0], judgement.bottleneck);
  add(k_titles[1], judgement.method);
  add(k_titles[2], judgement.plan);
  return text;
}

}  // namespace kw

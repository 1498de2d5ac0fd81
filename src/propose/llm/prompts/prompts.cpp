#include "propose/llm/prompts/prompts.hpp"

#include <algorithm>

#include "base/fenced_text.hpp"
#include "propose/llm/prompts/feedback_text.hpp"
#include "propose/llm/prompts/goal_text.hpp"
#include "propose/llm/prompts/judge.hpp"
#include "propose/llm/prompts/next_step.hpp"
#include "propose/llm/prompts/seen_signs.hpp"
#include "propose/llm/prompts/task_text.hpp"
#include "propose/llm/replies/code_blocks.hpp"

namespace kw {
namespace {

constexpr std::size_t k_excerpt_bytes = 1500;  ///< of the beginning and of the end of an answer without code
/// As much of an answer's code. A request remembers nothing: what is cut off here has to be written again.
constexpr std::size_t k_code_bytes = std::size_t{32} << 10;

std::vector<ChatMessage> conversation(const PromptContext& context, std::string_view name, const PromptValues& values) {
  return {system_message(context), {ChatRole::user, templates_of(context).render(name, values)}};
}

PromptValues common_values(const PromptContext& context, const AnswerForm& form) {
  return {{"task", task_text(context)},
          {"contract", contract_text(context)},
          {"answer", answer_text(context, form)},
          {"plan", form.plan ? "yes" : ""},
          {"lessons", context.parts.lessons ? lessons_text(context) : ""},
          {"tried", tried_text(context)}};
}

/// One of the strategies that suit the device, by number.
std::string strategy_text(const PromptContext& context, int variation) {
  const bool cpu = context.device.kind == DeviceKind::cpu;
  const std::string text = operator_text(context, "strategies",
                                         {{"cpu", cpu ? "yes" : ""},
                                          {"gpu", cpu ? "" : "yes"},
                                          {"vector_floats", std::to_string(context.device.vector_floats)},
                                          {"compute_units", std::to_string(context.device.compute_units)}});
  std::vector<std::string> strategies;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    const std::string line = text.substr(start, end - start);
    if (line.rfind("- ", 0) == 0) {
      strategies.push_back(line.substr(2));
    } else if (!strategies.empty() && !line.empty()) {
      strategies.back() += "\n" + line;
    }
    start = end + 1;
  }
  if (strategies.empty()) return "";
  return strategies[static_cast<std::size_t>(std::max(variation, 0)) % strategies.size()];
}

/// Without times where the device has none.
void add_best(const PromptContext& context, const Attempt* best, PromptValues& values) {
  if (best == nullptr) return;
  values["best"] = kernel_text(best->candidate);
  if (!best->measurement) return;
  const double ns = best->measurement->median_ns;
  values["best_time"] = time_text(ns);
  if (context.plain.median_ns > 0 && ns > 0)
    values["best_speedup"] = fmt::format("{:.3g}", context.plain.median_ns / ns);
}

std::string step_text(const PromptContext& context, const NextStep& step) {
  const std::int64_t floats = context.device.vector_floats;
  // OpenCL's vectors have 2, 4, 8 or 16 elements, whatever the device computes at a time.
  const std::int64_t width = floats >= 16 ? 16 : floats >= 8 ? 8 : floats >= 4 ? 4 : 2;
  return templates_of(context).render("steps.md", {{step.key, "yes"},
                                                   {"detail", step.detail},
                                                   {"advice", step_advice(context, step.key)},
                                                   {"vector_floats", std::to_string(floats)},
                                                   {"vector_width", std::to_string(width)}});
}

std::vector<ChatMessage> repair_prompt(const PromptContext& context, const Attempt& last, const Attempt* best) {
  const bool judged = last.verdict.status == VerdictStatus::rejected;
  PromptValues values = common_values(context, {.reflection = judged && context.parts.lessons});
  add_verdict(context, last, values);
  values["judgement"] = context.judgement;
  add_best(context, best, values);
  return conversation(context, "repair.md", values);
}

/// An answer's code; where there is none, how it begins and ends.
std::string excerpt_of(const std::string& text) {
  if (text.empty()) return "";
  std::string code;
  for (const auto& block : code_blocks(text)) code += (code.empty() ? "" : "\n") + block.text;
  const std::string& whole = code.empty() ? text : code;
  const std::size_t part = code.empty() ? k_excerpt_bytes : k_code_bytes;
  const std::string shown =
      whole.size() <= 2 * part ? whole : whole.substr(0, part) + "\n[...]\n" + whole.substr(whole.size() - part);
  std::string block = fenced("text", shown);
  block.pop_back();
  return block;
}

/// "reply too large" is section reply_too_large of prompts/faults.md.
std::string key_of(ReplyFault fault) {
  std::string key(to_string(fault));
  std::replace(key.begin(), key.end(), ' ', '_');
  return key;
}

constexpr const char* k_judges_plan = "what the judge plans, as far as the figures bear it out.";

/// What is to be reached from the run's best; without one, from the fastest kernel that is shown or the plain one.
std::string goal_from(const PromptContext& context, const Attempt* best, const std::vector<Exemplar>& exemplars) {
  if (!context.parts.goal) return "";
  Rival rival{"the plain kernel", context.plain.median_ns};
  for (const auto& one : exemplars) {
    const bool timed = one.attempt != nullptr && one.attempt->measurement;
    if (!timed || one.attempt->measurement->median_ns >= rival.median_ns) continue;
    rival = {"the fastest kernel above", one.attempt->measurement->median_ns};
  }
  if (best != nullptr && best->measurement) rival = {"the best kernel so far", best->measurement->median_ns};
  const auto bound = peak_times(context);
  return goal_text(rival, bound ? std::optional(bound->bound_ns()) : std::nullopt);
}

}  // namespace

const Attempt& anchor_of(const Attempt& last, const Attempt* best) {
  return best != nullptr ? *best : last;
}

std::vector<ChatMessage> first_prompt(const PromptContext& context, const std::vector<Exemplar>& exemplars,
                                      int variation, const Attempt* best) {
  PromptValues values = common_values(context, {.plan = context.plan, .contrast = exemplars.size() > 1});
  values["notes"] = notes_text(context, nullptr);
  values["goal"] = goal_from(context, best, exemplars);
  values["exemplars"] = exemplars_text(exemplars);
  add_best(context, best, values);
  values["strategy"] = strategy_text(context, variation);
  return conversation(context, "first.md", values);
}

std::vector<ChatMessage> feedback_prompt(const PromptContext& context, const Attempt& last, const Attempt* best,
                                         const std::vector<Exemplar>& exemplars) {
  if (!last.verdict.accepted()) return repair_prompt(context, last, best);
  const Attempt& anchor = anchor_of(last, best);
  PromptValues values = common_values(context, {.contrast = !exemplars.empty(), .reflection = context.parts.lessons});
  values["measured"] = measured_text(context, last);
  values["standing"] = standing_text(last, anchor);
  if (last.ordinal != anchor.ordinal) values["last"] = kernel_text(last.candidate);
  values["best"] = kernel_text(anchor.candidate);
  values["exemplars"] = exemplars_text(exemplars);
  values["judgement"] = context.judgement;
  values["step"] = context.judgement.empty() ? step_text(context, next_step(context, anchor)) : k_judges_plan;
  values["notes"] = notes_text(context, &anchor);
  values["goal"] = goal_from(context, &anchor, {});
  return conversation(context, "improve.md", values);
}

std::vector<ChatMessage> fault_prompt(const PromptContext& context, const Turn& faulty, const Attempt* wrong,
                                      const Attempt* best) {
  PromptValues values = common_values(context, {.plan = faulty.fault == ReplyFault::no_plan});
  if (wrong != nullptr) {
    PromptValues before;
    add_verdict(context, *wrong, before);
    values["wrong"] = templates_of(context).render("wrong.md", before);
  } else {
    values["goal"] = goal_from(context, best, {});
  }
  values["advice"] = templates_of(context).render(
      "faults.md", {{key_of(faulty.fault), "yes"}, {"language", language_text(context)}, {"target", context.target}});
  if (!faulty.fault_message.empty()) {
    values["seen"] = fenced("text", one_line(faulty.fault_message, 600));
    values["seen"].pop_back();
  }
  // A reply that was too large, or repeats a kernel, says nothing that its fault does not.
  const bool quoted = faulty.fault != ReplyFault::too_large && faulty.fault != ReplyFault::repeated;
  if (quoted) values["excerpt"] = excerpt_of(faulty.reply.text);
  add_best(context, best, values);
  return conversation(context, "fault.md", values);
}

std::string suggested_step(const PromptContext& context, const Attempt& last, const Attempt* best) {
  if (!last.verdict.accepted()) return "";
  return context.judgement.empty() ? next_step(context, anchor_of(last, best)).key : k_judged_step;
}

}  // namespace kw

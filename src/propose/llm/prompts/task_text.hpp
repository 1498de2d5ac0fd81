#pragma once
// The parts that every prompt has: what is asked, what a kernel is, what an answer must look like. Internal to prompts.

#include <optional>
#include <string>
#include <string_view>

#include "propose/llm/prompts/prompts.hpp"
#include "record/peak_times.hpp"

namespace kw {

[[nodiscard]] const PromptTemplates& templates_of(const PromptContext& context);
/// A template of the problem's operator (OperatorPrompts::texts).
[[nodiscard]] std::string operator_text(const PromptContext& context, std::string_view name,
                                        const PromptValues& values);
/// What the operator advises for a step, for this problem: no word of masks where there is none.
[[nodiscard]] std::string step_advice(const PromptContext& context, const std::string& key);
/// "OpenCL C".
[[nodiscard]] std::string language_text(const PromptContext& context);

[[nodiscard]] ChatMessage system_message(const PromptContext& context);
/// prompts/task.md: problem, device, constraints.
[[nodiscard]] std::string task_text(const PromptContext& context);
/// prompts/contract.md with the target's example.
[[nodiscard]] std::string contract_text(const PromptContext& context);
/// What an answer is asked for besides analysis, design and code.
struct AnswerForm {
  bool plan = false;
  bool contrast = false;    ///< what tells the kernels apart that are shown
  bool reflection = false;  ///< on the last kernel, which was judged
};
/// prompts/answer.md.
[[nodiscard]] std::string answer_text(const PromptContext& context, const AnswerForm& form);

/// What the timed workload costs.
[[nodiscard]] WorkloadCost timed_work(const PromptContext& context);
/// What it takes at the device's peaks. Tensor cores count where an input is f16 or bf16: for f32 inputs they round
/// more than a kernel may, and a bound that no right kernel comes near is no guide. The verifier, which refuses what is
/// faster than the device, grants them.
[[nodiscard]] std::optional<PeakTimes> peak_times(const PromptContext& context);
/// The share of that bound which a kernel reached; absent where the verifier gave none.
[[nodiscard]] std::optional<double> bound_share(const PromptContext& context, const Measurement& measured);

/// "6.90 ms", "61.2 us": three digits.
[[nodiscard]] std::string time_text(double ns);
/// A bundle with the candidate's tunables as its defaults, between fences.
[[nodiscard]] std::string kernel_text(const Candidate& candidate);
/// Each with its speed, under a heading of its own.
[[nodiscard]] std::string exemplars_text(const std::vector<Exemplar>& exemplars);
/// The last of context.tried as a list; empty without.
[[nodiscard]] std::string tried_text(const PromptContext& context);
/// context.lessons as a list; empty without.
[[nodiscard]] std::string lessons_text(const PromptContext& context);

}  // namespace kw

#pragma once
// What the verifier saw of one attempt, in words. Reads the verdict's visible evidence and the measurement; never the
// build's log, which may speak of held-out sizes. Internal to prompts.

#include <string>

#include "propose/llm/prompts/prompts.hpp"

namespace kw {

/// The verdict's sentence and the visible evidence of the gate that failed, between fences; bounded.
[[nodiscard]] std::string seen_text(const Attempt& attempt);
/// The compiler's first errors, or a sanitizer's finding, with the lines they point to, between fences; empty when none
/// names a line.
[[nodiscard]] std::string errors_text(const Attempt& attempt);
/// The text of prompts/reasons.md for the verdict.
[[nodiscard]] std::string advice_text(const PromptContext& context, const Verdict& verdict);
/// "the gates read, build", or "no gate".
[[nodiscard]] std::string passed_text(const Verdict& verdict);

/// Of a kernel that was not accepted: how far it came, why it ended there, and its text.
void add_verdict(const PromptContext& context, const Attempt& last, PromptValues& values);

/// Time with interval, rates, roofline, the plain kernel, the decision against the best, the compiler's report: a list.
[[nodiscard]] std::string measured_text(const PromptContext& context, const Attempt& attempt);
/// How `last` stands to `best`: one or two sentences.
[[nodiscard]] std::string standing_text(const Attempt& last, const Attempt& best);

}  // namespace kw

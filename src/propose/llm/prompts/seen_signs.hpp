#pragma once
// The signs (propose/llm/knowledge/signs.hpp) of a problem, its device and a kernel, and the notes that fit them as a
// prompt shows them. Internal to prompts.

#include <string>

#include "propose/llm/knowledge/signs.hpp"
#include "propose/llm/prompts/prompts.hpp"

namespace kw {

/// Every sign that is known; `kernel` is one that was accepted, or null: then those of problem and device alone.
[[nodiscard]] Signs signs_of(const PromptContext& context, const Attempt* kernel);

/// The two notes that gave most among those that fit, each with the signs that it fits; empty where none does, or where
/// context.parts.notes is false.
[[nodiscard]] std::string notes_text(const PromptContext& context, const Attempt* kernel);

}  // namespace kw

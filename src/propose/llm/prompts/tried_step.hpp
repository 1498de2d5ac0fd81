#pragma once
// What an earlier turn tried, as a later prompt tells it, and which advised step it took.

#include <string>

#include "record/attempt.hpp"
#include "record/turn.hpp"

namespace kw {

struct TriedStep {
  std::string step;  ///< key of the advised step that was taken (next_step.hpp); empty: another, or none came of it yet
  std::string text;  ///< one line
};

/// "right, 0.8 times as fast as the best before (0.78 to 0.82): slower", "rejected at check, wrong_result".
[[nodiscard]] std::string judged_text(const Attempt& attempt);

/// `advised` is the key of the step that the kernel was asked to make. It was taken when the kernel is right and its
/// design does not begin with "Instead", as prompts/improve.md asks of one that makes another step. The text says how
/// it went, by the verdict and by pairs, and with what tunables; then the model's own analysis and design.
[[nodiscard]] TriedStep tried_step(const std::string& advised, const Turn& turn, const Attempt& attempt);

}  // namespace kw

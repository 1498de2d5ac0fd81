#pragma once
// The parts that attention is registered with (operator.cpp), one source each.

#include <span>
#include <vector>

#include "base/embedded_texts.hpp"
#include "problem/operator.hpp"
#include "problem/operator_checks.hpp"

namespace kw {

/// How problem files ask for attention: its axes, its tensors and the table [attention].
[[nodiscard]] OperatorFormat attention_format();

/// How answers to attention problems are checked.
[[nodiscard]] OperatorChecks attention_checks();

/// Operands that expose wrong attention kernels. "offset": products of queries and keys are near +120 and -120, where
/// exp() overflows or every probability vanishes. "level" undoes what a problem's own function does to scores: relative
/// position and steep linear biases give nearly all of the probability to the keys at one end, so that a kernel could
/// leave the others out and be right on every random input. Data whose scores lean the other way by as much make every
/// key count. Problems that favour no keys are left alone.
[[nodiscard]] const std::vector<OwnDistribution>& attention_distributions();

/// prompts/attention/*.md as they were compiled in. Defined by the build (cmake/KwEmbed.cmake).
[[nodiscard]] std::span<const EmbeddedText> attention_prompt_texts();

/// What language models are told of attention.
[[nodiscard]] OperatorPrompts attention_prompts();

}  // namespace kw

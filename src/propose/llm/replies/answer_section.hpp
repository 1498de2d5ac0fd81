#pragma once
// A part of a model's answer by its title: prompts/answer.md asks for Plan, Analysis and Design. Untrusted text, read
// as models write it: "# Plan", "**Plan:**", "1. **Analysis**: loads are slow".

#include <string>
#include <string_view>

namespace kw {

/// What stands behind and below a line that begins with `title`, up to the next title, heading or block of code: line
/// by line, each as one_line gives it, without blank ones at the ends. Bounded; empty where there is no such line.
[[nodiscard]] std::string answer_section(std::string_view text, std::string_view title);

}  // namespace kw

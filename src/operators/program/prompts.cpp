#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "operators/program/parts.hpp"
#include "operators/program/program_detail.hpp"
#include "program/explain/text.hpp"

namespace kw {
namespace {

std::map<std::string, std::string, std::less<>> program_values(const Problem& problem) {
  const ProgramDetail& detail = program_detail(problem);
  std::vector<std::string> settings;
  for (const auto& axis : detail.program.axes) {
    const auto& own = problem.own_axes;
    if (std::find(own.begin(), own.end(), axis.name) == own.end()) {
      settings.push_back(fmt::format("{} = {}", axis.name, axis.extent));
    }
  }
  const auto precision = detail.module.precision;
  const bool strict = precision == Precision::strict;
  return {{"class", detail.program.name},
          {"mode", std::string(to_string(detail.program.mode))},
          {"precision", strict ? "" : fmt::format("{}: {}", to_string(precision), words_for(precision))},
          {"settings", join(settings)},
          {"module", detail.module.text},
          {"graph", program_text(detail.program)}};
}

}  // namespace

OperatorPrompts program_prompts() {
  return {.texts = program_prompt_texts,
          .placeholders =
              [] { return std::vector<std::string>{"class", "mode", "precision", "settings", "module", "graph"}; },
          .values = program_values};
}

}  // namespace kw

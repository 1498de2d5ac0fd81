#include <algorithm>

#include "base/text.hpp"
#include "propose/llm/prompts/prompts.hpp"

namespace kw {

Result<PromptParts> parse_prompt_parts(std::string_view left_out) {
  PromptParts parts;
  while (!left_out.empty()) {
    const std::size_t end = std::min(left_out.find(','), left_out.size());
    const std::string_view name = trimmed(left_out.substr(0, end));
    left_out.remove_prefix(std::min(end + 1, left_out.size()));
    if (name == "goal") {
      parts.goal = false;
    } else if (name == "notes") {
      parts.notes = false;
    } else if (name == "lessons") {
      parts.lessons = false;
    } else {
      return fail(Error{errc::prompt_part,
                        fmt::format("prompts have no part '{}' that can be left out", name.substr(0, 64)),
                        "one or several of goal, notes, lessons"});
    }
  }
  return parts;
}

}  // namespace kw

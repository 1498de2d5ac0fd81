#pragma once
// The little language of prompt templates: {{name}} is replaced by a value, {{#name}}...{{/name}} is shown only when
// the value is not empty. Values are put in as they are and never looked at again, so a kernel or a user's text that
// holds
// {{...}} does no harm. Anything else, braces of C initialisers included, is text: a tag is two braces, a name in small
// letters, digits and underscores, two braces.
//
// A section's tag alone on its line takes the line with it.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace kw {

namespace errc {
inline constexpr ErrorCode prompt_template{"prompt.template"};  ///< with file and line
}  // namespace errc

using PromptValues = std::map<std::string, std::string, std::less<>>;

/// Every tag is one of `known`, and sections are closed in the order they were opened. errc::prompt_template.
[[nodiscard]] Result<void> check_template(std::string_view text, const std::vector<std::string>& known,
                                          const std::string& file);

/// A value that is missing counts as empty. `text` passed check_template.
[[nodiscard]] std::string render_template(std::string_view text, const PromptValues& values);

}  // namespace kw

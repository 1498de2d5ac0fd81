#pragma once
// What is said to a model, as files: prompts/*.md and those of each operator in a folder of its name, compiled in, each
// replaceable by a file of the same name in a directory of the user's (docs/prompting.md). Checked completely when they
// are loaded, so that a run cannot fail at its twentieth turn over a misspelt placeholder.

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.hpp"
#include "base/result.hpp"
#include "propose/llm/prompts/template_text.hpp"

namespace kw {

struct Language;

namespace errc {
inline constexpr ErrorCode prompt_file{"prompt.file"};  ///< a directory that is none, a file that is no template
}  // namespace errc

struct PromptTemplates {
  /// By file name, "first.md", "attention/steps.md"; all shipped names are there.
  std::map<std::string, std::string, std::less<>> texts;

  /// The template `name` with `values`; the text ends without blank lines. `name` is a shipped one.
  [[nodiscard]] std::string render(std::string_view name, const PromptValues& values) const;
};

/// The template with a whole bundle in the language, for another operator.
[[nodiscard]] std::string example_template(const Language& language);

/// An operator's own template (OperatorPrompts::texts): "attention/steps.md".
[[nodiscard]] std::string operator_template(std::string_view op, std::string_view name);
/// Sections of steps.md and of reasons.md that leave the advice to the operator.
[[nodiscard]] const std::vector<std::string>& advised_steps();
[[nodiscard]] const std::vector<std::string>& advised_reasons();

/// As shipped, with those of the program's operators; made once.
[[nodiscard]] const PromptTemplates& shipped_prompt_templates();

/// The shipped templates, replaced by those of `override_dir` (its files ending in .md; others are refused too, since a
/// misspelt name would silently do nothing). Refuses names that are not shipped, files over 256 KiB, and what
/// check_template refuses.
[[nodiscard]] Result<PromptTemplates> load_prompt_templates(FileSystem& files,
                                                            std::optional<std::filesystem::path> override_dir);

}  // namespace kw

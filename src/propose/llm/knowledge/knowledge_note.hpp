#pragma once
// A note of knowledge/: one optimisation, when it applies by measured signs, and what it gave. Head lines for programs,
// then a text for people and models:
//
//   # Title
//
//   * target: cuda, hip          one or several; left out: any
//   * device: gpu                cpu, gpu or simulator; left out: any
//   * operator: attention        left out: any
//   * when: bound_share < 0.5, tensor_cores > 0      all must hold
//   * gain: 1.18                 times as fast, where it was measured
//   * source: docs/results/FILE.md
//   * figure: 177 against 150    word for word in the source; one line or several
//
//   Text.
//
// Whether source and figures are there, a test looks at; the text alone is shown to models.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "propose/llm/knowledge/signs.hpp"

namespace kw {

namespace errc {
inline constexpr ErrorCode knowledge_note{"knowledge.note"};
}  // namespace errc

struct SignCondition {
  std::string sign;
  std::string comparison;  ///< "<", "<=", ">", ">=" or "=="
  double value = 0;
  [[nodiscard]] bool holds(const Signs& signs) const;
  /// "bound_share < 0.5"
  [[nodiscard]] std::string to_string() const;
};

struct KnowledgeNote {
  std::string name;  ///< of the file, without its extension
  std::string title;
  std::vector<std::string> targets, devices, operators;  ///< empty: any
  std::vector<SignCondition> when;                       ///< never empty
  double gain = 1;                                       ///< above 1
  std::string source;
  std::vector<std::string> figures;  ///< never empty
  std::string text;                  ///< never empty; no blank lines at its ends
};

/// errc::knowledge_note with file and line: no title, an unknown, missing or repeated head line, a condition that is
/// none or names no sign (signs.hpp), a gain that is no number above 1, no text.
[[nodiscard]] Result<KnowledgeNote> parse_knowledge_note(std::string_view text, const std::string& name);

}  // namespace kw

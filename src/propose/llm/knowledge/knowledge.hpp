#pragma once
// The notes of knowledge/, compiled in, and which of them fit what was seen of a kernel.

#include <span>
#include <string>
#include <vector>

#include "propose/llm/knowledge/knowledge_note.hpp"

namespace kw {

/// By name; parsed once. A note that cannot be read is a defect of the program.
[[nodiscard]] const std::vector<KnowledgeNote>& shipped_knowledge();

/// Where a note would be used.
struct NoteSituation {
  std::string target;  ///< "opencl"
  std::string device;  ///< "cpu", "gpu", "simulator"
  std::string op;      ///< "attention"
  Signs signs;
};

/// Those whose lists name the situation and whose conditions all hold, what gave most first, at most `most`.
[[nodiscard]] std::vector<const KnowledgeNote*> fitting_notes(const std::vector<KnowledgeNote>& notes,
                                                              const NoteSituation& situation, std::size_t most);

}  // namespace kw

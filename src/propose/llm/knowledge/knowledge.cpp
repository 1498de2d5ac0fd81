#include "propose/llm/knowledge/knowledge.hpp"

#include <algorithm>

#include "base/embedded_texts.hpp"

namespace kw {

std::span<const EmbeddedText> shipped_knowledge_texts();  // knowledge/*.md, compiled in

namespace {

bool lists(const std::vector<std::string>& names, const std::string& name) {
  return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

const std::vector<KnowledgeNote>& shipped_knowledge() {
  static const std::vector<KnowledgeNote> shipped = [] {
    std::vector<KnowledgeNote> notes;
    for (const auto& file : shipped_knowledge_texts()) {
      if (file.name == "README") continue;
      auto note = parse_knowledge_note(file.text, std::string(file.name));
      KW_CHECK(note.has_value(), "{}", note.error().to_string());
      notes.push_back(*std::move(note));
    }
    return notes;
  }();
  return shipped;
}

std::vector<const KnowledgeNote*> fitting_notes(const std::vector<KnowledgeNote>& notes, const NoteSituation& situation,
                                                std::size_t most) {
  std::vector<const KnowledgeNote*> fitting;
  for (const auto& note : notes) {
    const bool meant = lists(note.targets, situation.target) && lists(note.devices, situation.device) &&
                       lists(note.operators, situation.op);
    const auto holds = [&](const SignCondition& condition) { return condition.holds(situation.signs); };
    if (meant && std::all_of(note.when.begin(), note.when.end(), holds)) fitting.push_back(&note);
  }
  std::stable_sort(fitting.begin(), fitting.end(), [](const auto* a, const auto* b) { return a->gain > b->gain; });
  if (fitting.size() > most) fitting.resize(most);
  return fitting;
}

}  // namespace kw

#include "propose/llm/prompts/lesson.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "propose/better.hpp"
#include "propose/llm/prompts/tried_step.hpp"
#include "propose/llm/replies/answer_section.hpp"
#include "propose/llm/replies/code_blocks.hpp"

namespace kw {
namespace {

constexpr std::size_t k_most_thought_bytes = 160;
constexpr std::ptrdiff_t k_lessons_shown = 4;  ///< of earlier runs, and of this one

/// The line that begins with the word; not what stands below it, which may be the next one.
std::string thought(const std::string& answer, const char* word) {
  const std::string section = answer_section(answer, word);
  const std::string line = one_line(section.substr(0, section.find('\n')), k_most_thought_bytes);
  return line.empty() ? "" : fmt::format(" {}: {}", word, line);
}

/// Samples of a round were asked the same.
bool same_round(const Turn& a, const Turn& b) {
  return a.chain == b.chain && a.request.messages == b.request.messages;
}

/// The turns of the chain's round before the one of `answer`.
std::vector<const Turn*> round_before(const Turn& answer, std::span<const Turn> turns) {
  const Turn* latest = nullptr;
  for (const auto& turn : turns) {
    const bool asked = turn.chain == answer.chain && turn.purpose != k_judge_purpose;
    const bool earlier = asked && turn.ordinal < answer.ordinal && !same_round(turn, answer);
    if (earlier && (latest == nullptr || turn.ordinal > latest->ordinal)) latest = &turn;
  }
  std::vector<const Turn*> round;
  for (const auto& turn : turns) {
    if (latest != nullptr && same_round(turn, *latest)) round.push_back(&turn);
  }
  return round;
}

struct Told {
  const Attempt* attempt = nullptr;
  const Turn* turn = nullptr;
};

/// What the round's feedback was about: the fastest that is right, else the one that came furthest.
Told told_of(const std::vector<const Turn*>& round, std::span<const Attempt> attempts) {
  Told told;
  for (const auto& attempt : attempts) {
    const auto turn =
        std::find_if(round.begin(), round.end(), [&](const Turn* t) { return attempt.provenance.turn == t->ordinal; });
    if (turn == round.end()) continue;
    const bool right = told.attempt != nullptr && told.attempt->verdict.accepted();
    const bool further =
        told.attempt == nullptr || attempt.verdict.gates_passed.size() > told.attempt->verdict.gates_passed.size();
    if (attempt.verdict.accepted() ? is_better(attempt, right ? told.attempt : nullptr) : !right && further) {
      told = {&attempt, *turn};
    }
  }
  return told;
}

}  // namespace

std::string lesson_text(const Turn& answer, const Attempt& about, const Turn& source) {
  std::string thoughts;
  for (const char* word : {"Diagnosis", "Avoid", "Prioritise"}) thoughts += thought(answer.reply.text, word);
  if (thoughts.empty()) return "";
  return fmt::format("{}.{}{}", judged_text(about), thought(source.reply.text, "Design"), thoughts);
}

std::vector<std::string> lessons_of(std::span<const Turn> turns, std::span<const Attempt> attempts) {
  std::vector<std::string> lessons;
  for (const auto& turn : turns) {
    if (turn.purpose == k_judge_purpose) continue;
    const Told told = told_of(round_before(turn, turns), attempts);
    if (told.attempt == nullptr) continue;
    if (auto lesson = lesson_text(turn, *told.attempt, *told.turn); !lesson.empty())
      lessons.push_back(std::move(lesson));
  }
  return lessons;
}

void Lessons::add(std::string lesson) {
  if (!lesson.empty()) own_.push_back(std::move(lesson));
}

std::vector<std::string> Lessons::shown() const {
  const auto latest = [](const auto& all) { return all.end() - std::min(std::ssize(all), k_lessons_shown); };
  std::vector<std::string> lines(latest(past_), past_.end());
  lines.insert(lines.end(), latest(own_), own_.end());
  return lines;
}

}  // namespace kw

#pragma once
// What a model said when it looked back on a kernel of its own, beside how that kernel did: a line that later prompts
// and later runs of the problem are told. Nothing is stored for it: the answers of a run and its attempts say it all.

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "record/attempt.hpp"
#include "record/turn.hpp"

namespace kw {

/// "right, 0.8 times as fast as the best before (0.78 to 0.82): slower. Design: ... Diagnosis: ... Avoid: ...
/// Prioritise: ...". `answer` looks back on `about`, which came of `source`. Empty where the answer has none of the
/// three lines that prompts/answer.md asks for.
[[nodiscard]] std::string lesson_text(const Turn& answer, const Attempt& about, const Turn& source);

/// Those of a recorded run, oldest first. What an answer looks back on is the best of the chain's round before it.
[[nodiscard]] std::vector<std::string> lessons_of(std::span<const Turn> turns, std::span<const Attempt> attempts);

/// What models said of their kernels, in earlier runs and in this one.
class Lessons {
 public:
  explicit Lessons(std::vector<std::string> past) : past_(std::move(past)) {}
  /// An empty one is no lesson.
  void add(std::string lesson);
  /// The latest of each, so that those of earlier runs are not forgotten over the first turns; oldest first.
  [[nodiscard]] std::vector<std::string> shown() const;

 private:
  std::vector<std::string> past_, own_;
};

}  // namespace kw

#pragma once
// One conversation with a model: rounds of one or several samples. Which kernel is the best is not a chain's to say: it
// is the run's, and gain is to become it. A chain that gains nothing begins anew, but not before the model has answered
// what it was told last. Pure state: what is due next, and what became of it. No requests are made here.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "propose/llm/prompts/tried_step.hpp"
#include "record/attempt.hpp"
#include "record/turn.hpp"

namespace kw {

/// What became of one sample of a round.
struct SampleResult {
  Turn turn;
  const Attempt* attempt = nullptr;  ///< null when the reply gave no candidate; not owned
};

/// What the next request of a chain is for.
enum class ChainNeed : std::uint8_t {
  nothing,       ///< samples are out, or candidates are at the verifier
  first,         ///< a first prompt
  feedback,      ///< on the round's best attempt
  repair_reply,  ///< the reply gave no candidate
};

class Chain {
 public:
  explicit Chain(std::int64_t id) : id_(id) {}

  [[nodiscard]] std::int64_t id() const { return id_; }
  [[nodiscard]] ChainNeed need() const;
  /// "first prompt", "repair", "one step", "repair the reply", "restart 2": for the record.
  [[nodiscard]] std::string purpose() const;
  /// The result the next prompt is about: the fastest accepted, else the one that came furthest. Null when none is.
  [[nodiscard]] const SampleResult* last() const;
  /// A kernel that was rejected and that no answer has repaired since; null when there is none.
  [[nodiscard]] const Attempt* wrong() const { return wrong_; }
  /// Every kernel that was judged, also before the chain began anew: what it tried and how it went.
  [[nodiscard]] const std::vector<TriedStep>& tried() const { return tried_; }
  /// How often the chain began anew.
  [[nodiscard]] int restarts() const { return restarts_; }

  /// A round of `samples` requests goes out; `step` names what is asked for, as suggested_step does. Empty: a repair,
  /// of what was asked for before.
  void begin_round(int samples, std::string step);
  /// A reply came and gave no candidate, or the request failed (ReplyFault::no_reply).
  void take_fault(Turn turn);
  /// A reply came and its candidates are on the way to the verifier; end_sample follows for each.
  void take_candidates(int count);
  /// Verified. `attempt` must outlive the chain.
  void end_sample(Turn turn, const Attempt& attempt);
  /// A tuned form of the chain's kernel was verified.
  void take_tuned(const Attempt& attempt);
  /// A request will never be answered. When no other of the round was, what it said is due again.
  void drop_sample();

 private:
  void close_round();
  void repeat_message();
  [[nodiscard]] bool has_news() const;
  void begin_anew();

  std::int64_t id_;
  int out_ = 0;       ///< requests without a reply
  int unjudged_ = 0;  ///< candidates at the verifier
  bool fresh_ = true;
  int restarts_ = 0;
  int rounds_without_gain_ = 0;  ///< in a row, without a first right kernel or a new best of the run
  int faulty_rounds_ = 0;        ///< in a row, without any candidate
  int unanswered_rounds_ = 0;    ///< in a row, without any reply
  const Attempt* wrong_ = nullptr;
  bool right_ = false;   ///< a kernel of the chain was accepted
  bool gained_ = false;  ///< since the round began
  std::vector<SampleResult> round_;
  std::vector<SampleResult> before_;  ///< the round whose feedback is out
  bool was_fresh_ = true;             ///< when the round began
  std::string step_;                  ///< asked for, and not taken or left yet
  std::vector<TriedStep> tried_;
};

}  // namespace kw

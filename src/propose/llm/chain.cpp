#include "propose/llm/chain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/result.hpp"
#include "propose/better.hpp"

namespace kw {
namespace {

/// Correctness was seen to saturate after about ten turns and speed to keep paying for longer; a chain that gained
/// nothing in this many rounds has no idea left.
constexpr int k_rounds_without_gain = 5;
/// A model that gave no kernel in this many rounds will not, whatever it is told. One that makes a new mistake each
/// time is given twice as many, as is a chain without gain.
constexpr int k_faulty_rounds = 3;

/// How far a rejected attempt came.
std::size_t gates_passed(const SampleResult& result) {
  return result.attempt == nullptr ? 0 : 1 + result.attempt->verdict.gates_passed.size();
}

/// What is wrong with it; empty for a kernel that is right, or of which nothing is known.
std::string failure_of(const SampleResult* result) {
  if (result == nullptr) return "";
  if (result->attempt == nullptr) {
    return fmt::format("{}: {}", to_string(result->turn.fault), result->turn.fault_message);
  }
  const Verdict& verdict = result->attempt->verdict;
  return verdict.status != VerdictStatus::rejected ? ""
                                                   : fmt::format("{}: {}", to_string(verdict.reason), verdict.message);
}

bool further(const SampleResult& a, const SampleResult& b) {
  const bool a_accepted = a.attempt != nullptr && a.attempt->verdict.accepted();
  const bool b_accepted = b.attempt != nullptr && b.attempt->verdict.accepted();
  if (a_accepted != b_accepted) return a_accepted;
  if (a_accepted) return is_better(*a.attempt, b.attempt);
  return gates_passed(a) > gates_passed(b);
}

const SampleResult* furthest(const std::vector<SampleResult>& round) {
  const auto best = std::min_element(round.begin(), round.end(), further);
  return best == round.end() ? nullptr : &*best;
}

}  // namespace

ChainNeed Chain::need() const {
  if (out_ > 0 || unjudged_ > 0) return ChainNeed::nothing;
  if (fresh_) return ChainNeed::first;
  return last()->attempt == nullptr ? ChainNeed::repair_reply : ChainNeed::feedback;
}

std::string Chain::purpose() const {
  switch (need()) {
    case ChainNeed::nothing:
      return "";
    case ChainNeed::first:
      return restarts_ == 0 ? "first prompt" : fmt::format("restart {}", restarts_);
    case ChainNeed::repair_reply:
      return "repair the reply";
    case ChainNeed::feedback:
      return last()->attempt->verdict.status == VerdictStatus::rejected ? "repair" : "one step";
  }
  return "";
}

const SampleResult* Chain::last() const {
  return furthest(round_);
}

void Chain::begin_round(int samples, std::string step) {
  KW_CHECK(need() != ChainNeed::nothing && samples > 0, "chain {} is not due", id_);
  was_fresh_ = std::exchange(fresh_, false);
  out_ = samples;
  gained_ = false;
  if (!step.empty()) step_ = std::move(step);
  before_ = std::exchange(round_, {});
}

void Chain::take_fault(Turn turn) {
  --out_;
  if (turn.fault != ReplyFault::no_reply) round_.push_back({std::move(turn), nullptr});
  close_round();
}

void Chain::take_candidates(int count) {
  --out_;
  unjudged_ += count;
}

void Chain::end_sample(Turn turn, const Attempt& attempt) {
  --unjudged_;
  gained_ = gained_ || attempt.became_best || (attempt.verdict.accepted() && !right_);
  right_ = right_ || attempt.verdict.accepted();
  tried_.push_back(tried_step(step_, turn, attempt));
  round_.push_back({std::move(turn), &attempt});
  close_round();
}

void Chain::take_tuned(const Attempt& attempt) {
  if (!attempt.became_best) return;
  gained_ = true;
  rounds_without_gain_ = 0;
}

void Chain::drop_sample() {
  --out_;
  close_round();
}

void Chain::close_round() {
  if (out_ > 0 || unjudged_ > 0) return;
  if (round_.empty()) return repeat_message();
  unanswered_rounds_ = 0;
  const bool any = std::any_of(round_.begin(), round_.end(), [](const auto& r) { return r.attempt != nullptr; });
  faulty_rounds_ = any ? 0 : faulty_rounds_ + 1;
  if (any) {
    const Attempt* attempt = last()->attempt;
    wrong_ = attempt->verdict.status == VerdictStatus::rejected ? attempt : nullptr;
  }
  rounds_without_gain_ = gained_ ? 0 : rounds_without_gain_ + 1;
  const auto spent = [&](int times) {
    return faulty_rounds_ >= times * k_faulty_rounds || rounds_without_gain_ >= times * k_rounds_without_gain;
  };
  if (spent(1) && (!has_news() || spent(2))) begin_anew();
}

/// Nobody answered: what was said is due again, for a while.
void Chain::repeat_message() {
  round_ = std::exchange(before_, {});
  fresh_ = was_fresh_;
  if (++unanswered_rounds_ >= k_faulty_rounds) begin_anew();
}

/// Whether the round ended with a mistake that the model was not told of yet: the idea behind it may be the best one. A
/// mistake that was told and made again is no news.
bool Chain::has_news() const {
  const std::string failure = failure_of(last());
  return !failure.empty() && failure != failure_of(furthest(before_));
}

void Chain::begin_anew() {
  fresh_ = true;
  ++restarts_;
  rounds_without_gain_ = 0;
  faulty_rounds_ = 0;
  unanswered_rounds_ = 0;
  wrong_ = nullptr;
  right_ = false;
  round_.clear();
  step_.clear();  // what was tried stays: a model remembers nothing, and would try it again
}

}  // namespace kw

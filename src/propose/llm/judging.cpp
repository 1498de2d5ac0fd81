#include "propose/llm/judging.hpp"

#include <utility>

#include "propose/llm/prompts/judge.hpp"

namespace kw {
namespace {

constexpr int k_judge_failures_in_a_row = 3;

}  // namespace

bool Judging::wants(const Chain& chain) const {
  if (model_.empty() || given_up_ || chain.need() != ChainNeed::feedback || by_chain_.contains(chain.id()))
    return false;
  return chain.last()->attempt->verdict.status != VerdictStatus::unverified;
}

bool Judging::is_asked(const Chain& chain) const {
  const auto found = by_chain_.find(chain.id());
  return found != by_chain_.end() && found->second.out;
}

void Judging::asked(const Chain& chain) {
  by_chain_[chain.id()] = {true, ""};
}

void Judging::take_answer(const Chain& chain, Turn& turn) {
  State& state = by_chain_[chain.id()];
  state.out = false;
  if (const auto judgement = read_judgement(turn.reply.text)) {
    state.text = judgement_text(*judgement);
    failures_ = 0;
    return;
  }
  turn.fault = ReplyFault::no_judgement;
  turn.fault_message = "none of the lines Bottleneck, Method and Plan is in the answer";
  count_failure(false);
}

void Judging::take_failure(const Chain& chain, bool final) {
  by_chain_[chain.id()].out = false;
  count_failure(final);
}

void Judging::count_failure(bool final) {
  given_up_ = final || ++failures_ >= k_judge_failures_in_a_row;
}

std::string Judging::take_text(const Chain& chain) {
  const auto found = by_chain_.find(chain.id());
  if (found == by_chain_.end()) return "";
  std::string text = std::move(found->second.text);
  by_chain_.erase(found);
  return text;
}

}  // namespace kw

#include "loop/recorded_replies.hpp"

#include <utility>

#include "propose/llm/client/chat_errors.hpp"

namespace kw {

RecordedReplies::RecordedReplies(std::vector<Turn> turns, ChatService* live, int capacity)
    : turns_(std::move(turns)), given_(turns_.size(), false), live_(live), capacity_(capacity) {
  for (const Turn& turn : turns_) recorded_.insert(turn.ordinal);
}

void RecordedReplies::submit(std::int64_t turn, const ChatRequest& request) {
  if (recorded_.contains(turn)) {
    asked_.insert(turn);
  } else if (live_ != nullptr) {
    live_->submit(turn, request);
  } else {
    unknown_.insert(turn);
  }
}

ChatOutcome RecordedReplies::give(std::size_t index) {
  const Turn& turn = turns_[index];
  given_[index] = true;
  asked_.erase(turn.ordinal);
  while (next_ < turns_.size() && given_[next_]) ++next_;
  if (turn.fault == ReplyFault::no_reply) return {turn.ordinal, fail(errc::chat_server, "{}", turn.fault_message)};
  return {turn.ordinal, turn.reply};
}

std::optional<ChatOutcome> RecordedReplies::poll(std::int64_t observed_attempts) {
  const bool early = std::exchange(early_, false);
  if (next_ < turns_.size()) {
    const Turn& head = turns_[next_];
    if (asked_.contains(head.ordinal) && (early || head.before_attempt <= observed_attempts)) return give(next_);
    if (!early) return std::nullopt;
    for (std::size_t i = next_; i < turns_.size(); ++i) {
      if (asked_.contains(turns_[i].ordinal)) return give(i);
    }
  }
  if (live_ != nullptr) return live_->poll(observed_attempts);
  if (unknown_.empty() || (!early && next_ < turns_.size())) return std::nullopt;
  const std::int64_t turn = *unknown_.begin();
  unknown_.erase(unknown_.begin());
  return ChatOutcome{turn, fail(errc::chat_replayed, "the recorded run has no reply to turn {}", turn)};
}

void RecordedReplies::wait(Instant until) {
  if (next_ == turns_.size() && live_ != nullptr) return live_->wait(until);
  early_ = true;
}

}  // namespace kw

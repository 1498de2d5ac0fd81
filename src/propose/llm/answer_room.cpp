#include "propose/llm/answer_room.hpp"

#include <algorithm>

#include "propose/llm/client/chat_errors.hpp"

namespace kw {
namespace {

/// An answer that has less room than this cannot hold reasoning and a kernel.
constexpr std::int64_t k_least_answer_tokens = 1024;
/// What is asked for where a provider's own limit was too small: at first this, or twice what came, and never more than
/// models write.
constexpr std::int64_t k_first_longer_tokens = 16384;
constexpr std::int64_t k_longest_answer_tokens = 131072;

}  // namespace

std::optional<std::int64_t> AnswerRoom::next() const {
  const auto wanted = asked_ ? asked_ : longer_;
  if (!budget_) return wanted;
  const std::int64_t left = std::max(k_least_answer_tokens, *budget_ - used_);
  return std::min(left, wanted.value_or(left));
}

void AnswerRoom::count(const ChatReply& reply) {
  used_ += reply.usage.prompt + reply.usage.completion;
  if (asked_ || refused_ || reply.finish != ChatFinish::length) return;
  const std::int64_t twice = std::max(k_first_longer_tokens, 2 * reply.usage.completion);
  longer_ = std::min(k_longest_answer_tokens, std::max(twice, longer_.value_or(0)));
}

bool AnswerRoom::take_failure(std::optional<std::int64_t> room, const Error& error) {
  // Servers differ in what they say of a length that they do not allow.
  const bool may_be_length = error.code == errc::chat_bad_request || error.code == errc::chat_context_length;
  if (asked_ || !longer_ || !room || !may_be_length) return false;
  longer_.reset();
  refused_ = true;
  return true;
}

}  // namespace kw

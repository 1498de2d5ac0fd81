#pragma once
// How many tokens an answer may have. The user says, or else the provider's own limit holds, and that differs: where it
// cut an answer off, the next ones ask for more, unless the server refuses that. The budget of tokens bounds all of it.
// Pure state; what it says follows from the answers so far.

#include <cstdint>
#include <optional>

#include "base/result.hpp"
#include "record/chat.hpp"

namespace kw {

class AnswerRoom {
 public:
  /// `asked` by the user for one answer; `budget` for all prompts and answers together. Either may be absent.
  AnswerRoom(std::optional<std::int64_t> asked, std::optional<std::int64_t> budget) : asked_(asked), budget_(budget) {}

  /// For the next request; absent: as the provider has it.
  [[nodiscard]] std::optional<std::int64_t> next() const;
  /// An answer, of whichever model.
  void count(const ChatReply& reply);
  /// A request that asked for `room` failed. True where that may have been for its length: the next ones ask for no
  /// more than the provider gives by itself, and nothing else has to be concluded.
  [[nodiscard]] bool take_failure(std::optional<std::int64_t> room, const Error& error);

 private:
  std::optional<std::int64_t> asked_;
  std::optional<std::int64_t> budget_;
  std::int64_t used_ = 0;
  std::optional<std::int64_t> longer_;  ///< than the provider's limit
  bool refused_ = false;                ///< a server did not take that
};

}  // namespace kw

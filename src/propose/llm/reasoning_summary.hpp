#pragma once
// The first and the last sentences of a model's reasoning, for the record: enough to see what it was after.

#include <string>

#include "record/chat.hpp"

namespace kw {

/// Of the reasoning, or of the answer's prose before its code where there is none. At most some 600 characters, on one
/// line, printable; still untrusted text, to be escaped where it is shown.
[[nodiscard]] std::string reasoning_summary(const ChatReply& reply);

}  // namespace kw

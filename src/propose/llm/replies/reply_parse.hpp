#pragma once
// From a model's reply to a bundle, or to the reason why there is none. A reply is hostile bytes: parsing is pure,
// bounded and fuzzed (fuzz/reply_fuzz.cpp); nothing in it is a path, a command or an instruction to this program, and
// what is quoted of it is escaped and cut. Whether the kernel compiles or is right is the verifier's to say.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "propose/llm/client/reply_limits.hpp"
#include "record/bundle.hpp"
#include "record/chat.hpp"
#include "record/turn.hpp"

namespace kw {

/// Complete bundles of one answer that are taken. More are no answer, but a list.
inline constexpr std::size_t k_most_bundles = 4;

struct ParsedReply {
  std::optional<Bundle> bundle;  ///< present exactly when fault is none
  std::vector<Bundle> others;    ///< further complete ones, in the order of the answer
  ReplyFault fault = ReplyFault::none;
  std::string message;  ///< one sentence about the fault, for the next prompt and the report; on one line, bounded
  std::string plan;     ///< what the answer says under a heading "Plan", without its code; bounded; may be empty
};

/// `target` is what bundles must be for ("opencl"). Never gives no_reply or repeated: those are the proposer's to know.
/// A complete bundle is taken wherever it stands: in one of several fenced blocks, in a block that was never closed, or
/// with no fence at all, and up to k_most_bundles of them. Several that are equal are one. A fenced header with nothing
/// below it is completed by `source`, the one that the answer was to repair; empty: there is none.
[[nodiscard]] ParsedReply parse_reply(const ChatReply& reply, std::string_view target, std::string_view source = {});

/// The device code of an answer that gave no bundle: what stands below its only header, or its only block of code.
/// Empty where there is none, or no telling which.
[[nodiscard]] std::string source_in(const ChatReply& reply);

/// Of the reasoning, or of the answer's prose before its code where there is none. At most some 600 characters, on one
/// line, printable; still untrusted text, to be escaped where it is shown.
[[nodiscard]] std::string reasoning_summary(const ChatReply& reply);

}  // namespace kw

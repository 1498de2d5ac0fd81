#pragma once
// One turn of a chain: a request to a model, its reply, and what became of it. Turns and attempts together are a run's
// transcript; `before_attempt` puts the two in one order, which is all a replay needs.

#include <cstdint>
#include <string>
#include <string_view>

#include "record/chat.hpp"

namespace kw {

/// Why a reply gave no candidate. Stored in archives: never renumber.
enum class ReplyFault : std::uint8_t {
  none = 0,
  no_reply = 1,         ///< the request failed; the message says how
  empty = 2,            ///< nothing, or reasoning only
  too_large = 3,        ///< over k_max_reply_bytes
  cut_off = 4,          ///< the token limit ended it inside the code, or before any
  filtered = 5,         ///< the provider's content filter
  tool_call = 6,        ///< a tool call instead of an answer
  no_code = 7,          ///< prose, no kernel in it
  several_bundles = 8,  ///< more complete bundles than are verified of one answer
  wrong_language = 9,   ///< code, but not the target's: Triton, CUDA for OpenCL, HLSL ...
  host_program = 10,    ///< a PyTorch module, a main(), a whole program around the kernel
  no_header = 11,       ///< device code without the bundle header
  bundle_invalid = 12,  ///< a header that cannot be used; the message is the bundle parser's
  repeated = 13,        ///< byte for byte a candidate that this run has seen
  no_plan = 14,         ///< a plan was asked for before the code, and there is none
  no_judgement = 15,    ///< of a judge: none of the lines that it was asked for
};
[[nodiscard]] std::string_view to_string(ReplyFault fault);

/// Turn::purpose of a question to the judge, which is asked for no kernel.
inline constexpr std::string_view k_judge_purpose = "judge";

struct Turn {
  std::int64_t ordinal = 0;         ///< in the order the requests were made
  std::int64_t chain = 0;           ///< conversation it belongs to
  std::int64_t before_attempt = 0;  ///< the reply was taken when this many attempts had been observed
  std::string purpose;              ///< "first prompt", "repair", "one step", "restart from exemplar 12"
  ChatRequest request;
  ChatReply reply;
  double dollars = 0;                   ///< by the price table of the run
  double finished_seconds = 0;          ///< budget wall clock when the reply was taken
  std::string summary;                  ///< of the reasoning: its first and last sentences, bounded
  ReplyFault fault = ReplyFault::none;  ///< none: the reply became attempts, which name this turn
  std::string fault_message;            ///< one sentence; empty without a fault
};

/// Whether a kernel was asked for and none came: a try like any other, for budgets and tallies.
[[nodiscard]] inline bool is_failed_try(const Turn& turn) {
  return turn.fault != ReplyFault::none && turn.purpose != k_judge_purpose;
}

}  // namespace kw

#pragma once
// A request as the JSON that goes to the server: messages, model, and the few parameters, as preset and model take
// them. Nothing else of the machine, the run or the user goes along.

#include <string>

#include "propose/llm/client/provider.hpp"
#include "record/chat.hpp"

namespace kw {

struct RequestShape {
  bool include_usage = true;  ///< ask for a usage chunk at the end of the stream
};

/// Always asks for a stream. Bytes that are no UTF-8 (a compiler's log) are sent as U+FFFD.
[[nodiscard]] std::string request_body(const ChatRequest& request, const Provider& provider, const RequestShape& shape);

/// Bytes of all messages, to estimate tokens from.
[[nodiscard]] std::size_t prompt_bytes(const ChatRequest& request);
/// As many as so long an English or C text has, roughly; each model counts its own way.
[[nodiscard]] std::int64_t estimated_tokens(std::size_t text_bytes);

}  // namespace kw

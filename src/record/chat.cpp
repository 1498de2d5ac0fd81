#include "record/chat.hpp"

namespace kw {

std::string_view to_string(ChatRole role) {
  switch (role) {
    case ChatRole::system:
      return "system";
    case ChatRole::user:
      return "user";
    case ChatRole::assistant:
      return "assistant";
  }
  return "?";
}

std::string_view to_string(ChatFinish finish) {
  switch (finish) {
    case ChatFinish::stop:
      return "stop";
    case ChatFinish::length:
      return "length";
    case ChatFinish::filter:
      return "content filter";
    case ChatFinish::tool:
      return "tool call";
    case ChatFinish::unknown:
      return "unknown";
  }
  return "?";
}

}  // namespace kw

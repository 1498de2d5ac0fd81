#include "record/turn.hpp"

namespace kw {

std::string_view to_string(ReplyFault fault) {
  switch (fault) {
    case ReplyFault::none:
      return "none";
    case ReplyFault::no_reply:
      return "no reply";
    case ReplyFault::empty:
      return "empty reply";
    case ReplyFault::too_large:
      return "reply too large";
    case ReplyFault::cut_off:
      return "reply cut off";
    case ReplyFault::filtered:
      return "content filter";
    case ReplyFault::tool_call:
      return "tool call";
    case ReplyFault::no_code:
      return "no code";
    case ReplyFault::several_bundles:
      return "several bundles";
    case ReplyFault::wrong_language:
      return "wrong language";
    case ReplyFault::host_program:
      return "host program";
    case ReplyFault::no_header:
      return "no bundle header";
    case ReplyFault::bundle_invalid:
      return "bundle invalid";
    case ReplyFault::repeated:
      return "repeated";
    case ReplyFault::no_plan:
      return "no plan";
    case ReplyFault::no_judgement:
      return "no judgement";
  }
  return "?";
}

}  // namespace kw

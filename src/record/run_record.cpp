#include "record/run_record.hpp"

#include <algorithm>

namespace kw {

std::string_view to_string(RunStatus status) {
  switch (status) {
    case RunStatus::running:
      return "running";
    case RunStatus::finished:
      return "finished";
    case RunStatus::exhausted:
      return "exhausted";
    case RunStatus::interrupted:
      return "interrupted";
    case RunStatus::failed:
      return "failed";
  }
  return "unknown";
}

OpenRequests open_requests(const ModelUse& use) {
  if (!use.requests) return {};
  return {std::max<std::int64_t>(*use.requests - use.turns, 0),
          std::max<std::int64_t>(use.request_tokens.value_or(0) - use.answered_tokens.value_or(0), 0)};
}

}  // namespace kw

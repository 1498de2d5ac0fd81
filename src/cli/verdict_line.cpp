#include "cli/verdict_line.hpp"

#include "report/summary.hpp"

namespace kw {

std::string verdict_line(const Verdict& verdict) {
  const bool unseen = verdict.accepted() && !passed(verdict, GateId::sanitize);
  return std::string(to_string(verdict.status)) + (unseen ? " (not sanitized)" : "");
}

}  // namespace kw

#include "record/verdict.hpp"

#include <algorithm>

namespace kw {

namespace {

template <typename Names, typename E>
std::string_view name_of(const Names& names, E value) {
  const auto found = std::find_if(names.begin(), names.end(), [&](const auto& row) { return row.value == value; });
  return found == names.end() ? "unknown" : found->name;
}

}  // namespace

std::string_view to_string(GateId gate) {
  return name_of(k_gate_names, gate);
}

std::string_view to_string(VerdictStatus status) {
  switch (status) {
    case VerdictStatus::accepted:
      return "accepted";
    case VerdictStatus::rejected:
      return "rejected";
    case VerdictStatus::unverified:
      return "unverified";
    case VerdictStatus::screened:
      return "screened";
  }
  return "unknown";
}

std::string_view to_string(Reason reason) {
  return name_of(k_reason_names, reason);
}

void Verdict::reject(GateId gate, Reason why, std::string sentence) {
  if (status != VerdictStatus::accepted) return;
  status = VerdictStatus::rejected;
  reason = why;
  failed_gate = gate;
  message = std::move(sentence);
}

void Verdict::cannot_decide(GateId gate, std::string sentence) {
  if (status != VerdictStatus::accepted) return;
  status = VerdictStatus::unverified;
  failed_gate = gate;
  message = std::move(sentence);
}

void Verdict::screen(std::string sentence) {
  if (status != VerdictStatus::accepted) return;
  status = VerdictStatus::screened;
  message = std::move(sentence);
}

}  // namespace kw

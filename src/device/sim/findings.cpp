#include "device/sim/findings.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace kw::sim {

std::string_view to_string(FindingKind kind) {
  switch (kind) {
    case FindingKind::out_of_bounds:
      return "out of bounds";
    case FindingKind::misaligned:
      return "misaligned";
    case FindingKind::race:
      return "race";
    case FindingKind::uninitialised:
      return "uninitialised";
    case FindingKind::divergent_barrier:
      return "divergent barrier";
    case FindingKind::deadlock:
      return "deadlock";
    case FindingKind::inactive_lane:
      return "inactive lane";
    case FindingKind::misused_instruction:
      return "misused instruction";
    case FindingKind::stopped:
      return "stopped";
  }
  return "unknown";
}

std::string FindingLog::line_text(kw_sim::Place place) const {
  const int line = place < kw_sim::k_most_lines ? static_cast<int>(place) : line_of_(place);
  return line > 0 ? fmt::format("line {}", line) : "line unknown";
}

void FindingLog::report(FindingKind kind, const std::string& text, kw_sim::Place place) {
  const std::lock_guard lock(mutex_);
  if (seen_[static_cast<std::size_t>(kind)].exchange(true)) return;
  const std::string sentence = fmt::format("{}: {}, {}", to_string(kind), text, line_text(place));
  if (kind == FindingKind::uninitialised) {
    held_back_ = sentence;
  } else {
    write(sentence);
  }
}

void FindingLog::finish() {
  const std::lock_guard lock(mutex_);
  if (!any_ && !held_back_.empty()) write(held_back_);
}

void FindingLog::write(const std::string& sentence) {
  if (!any_) first_ = sentence;
  any_ = true;
  fmt::print(stderr, "kernelwright-sim: {}\n", sentence);
  std::fflush(stderr);
}

std::string FindingLog::first() const {
  const std::lock_guard lock(mutex_);
  return first_;
}

}  // namespace kw::sim

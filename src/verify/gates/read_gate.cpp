// Gate 1, read: the plan is consistent and bounded for every workload, and the source includes nothing. The bundle
// itself was parsed before it became a Candidate.

#include <cctype>
#include <optional>
#include <string>

#include "record/launch_plan.hpp"
#include "verify/gates/gate.hpp"

namespace kw {
namespace {

/// The source as the preprocessor's first phases see it: trigraphs and backslash-newlines gone, so that a directive
/// cannot hide behind them.
std::string spliced(const std::string& source) {
  std::string text;
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source.compare(i, 3,
                       "?"
                       "?/") == 0 &&
        i + 3 < source.size() && source[i + 3] == '\n') {
      i += 3;
    } else if (source.compare(i, 3,
                              "?"
                              "?=") == 0) {
      text += '#';
      i += 2;
    } else if (source.compare(i, 2, "\\\n") == 0) {
      i += 1;
    } else if (source.compare(i, 3, "\\\r\n") == 0) {
      i += 2;
    } else {
      text += source[i];
    }
  }
  return text;
}

/// The first directive that reaches for another file, or nothing. Comments between `#` and the word are not followed:
/// any directive whose word does not start right there is refused as well.
std::optional<std::string> forbidden_directive(const std::string& source) {
  const std::string text = spliced(source);
  std::size_t line_start = 0;
  while (line_start <= text.size()) {
    const std::size_t line_end = std::min(text.find('\n', line_start), text.size());
    std::size_t i = text.find_first_not_of(" \t\r\v\f", line_start);
    const bool hash = i < line_end && (text[i] == '#' || text.compare(i, 2, "%:") == 0);
    if (hash) {
      i += text[i] == '#' ? 1 : 2;
      i = std::min(text.find_first_not_of(" \t", i), line_end);
      std::string word;
      while (i < line_end && std::isalpha(static_cast<unsigned char>(text[i])) != 0) word += text[i++];
      if (word.rfind("include", 0) == 0 || word == "import" || word == "embed") return "#" + word;
      if (word.empty() && i < line_end && text[i] == '/') return "# followed by a comment";
    }
    line_start = line_end + 1;
  }
  return std::nullopt;
}

}  // namespace

bool run_read_gate(Session& session, Trial& trial) {
  const auto& candidate = trial.contender.candidate;
  if (candidate.bundle.target != session.options.device.target) {
    trial.verdict.reject(GateId::read, Reason::bundle_invalid,
                         fmt::format("the bundle is for target {}, the device {} takes {}", candidate.bundle.target,
                                     session.options.device.id, session.options.device.target));
    return false;
  }
  if (const auto directive = forbidden_directive(candidate.bundle.source)) {
    trial.verdict.reject(GateId::read, Reason::source_forbidden,
                         fmt::format("the source uses {}; a bundle must contain everything it needs", *directive));
    return false;
  }
  for (const auto& workload : session.problem.workloads) {
    auto plan = plan_launches(candidate, session.problem, workload.axes, session.options.device);
    if (!plan) {
      const bool hidden = workload.role == WorkloadRole::held_out;
      trial.verdict.note(GateId::read, fmt::format("workload {}: {}", workload.name, plan.error().to_string()), hidden);
      trial.verdict.reject(GateId::read, Reason::bundle_invalid,
                           hidden ? "the launch plan is not valid on a held-out workload (other sizes than the primary)"
                                  : fmt::format("workload {}: {}", workload.name, plan.error().message));
      return false;
    }
    trial.contender.built.plans.push_back({*std::move(plan), 0});
  }
  return true;
}

}  // namespace kw

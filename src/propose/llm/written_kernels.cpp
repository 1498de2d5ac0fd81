#include "propose/llm/written_kernels.hpp"

#include <utility>

#include "propose/llm/prompts/same_source.hpp"

namespace kw {

std::vector<Candidate> WrittenKernels::take_new(std::vector<Bundle> bundles, Turn& turn) {
  std::vector<Candidate> candidates;
  for (auto& bundle : bundles) {
    auto made = make_candidate(std::move(bundle));
    if (!made) {
      turn.fault = ReplyFault::bundle_invalid;
      turn.fault_message = made.error().message;
      continue;
    }
    const bool is_new = seen_.insert(made->id()).second;
    const bool is_novel = written_.insert(novelty_identity(*made)).second;
    if (is_new && is_novel) {
      candidates.push_back(*std::move(made));
    } else if (turn.fault == ReplyFault::none) {
      turn.fault = ReplyFault::repeated;
      turn.fault_message =
          is_new ? "this kernel differs from an earlier one of this run in names, comments and blanks alone"
                 : "this kernel was verified in this run already";
    }
  }
  if (candidates.empty()) return {};
  turn.fault = ReplyFault::none;
  turn.fault_message.clear();
  return candidates;
}

void WrittenKernels::forget(const Candidate& candidate) {
  seen_.erase(candidate.id());
  written_.erase(novelty_identity(candidate));
}

}  // namespace kw

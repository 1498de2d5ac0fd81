#include "propose/better.hpp"

namespace kw {

bool is_better(const Attempt& attempt, const Attempt* than) {
  if (!attempt.verdict.accepted()) return false;
  if (than == nullptr) return true;
  // What became the best was faster, pair by pair, than what was the best before it. Medians of other minutes say less.
  if (attempt.became_best && (!than->became_best || attempt.ordinal > than->ordinal)) return true;
  if (than->became_best && than->ordinal > attempt.ordinal) return false;
  if (!attempt.measurement || !than->measurement) return attempt.became_best;
  return attempt.measurement->median_ns < than->measurement->median_ns;
}

}  // namespace kw

#include "propose/better.hpp"

namespace kw {

bool is_better(const Attempt& attempt, const Attempt* than) {
  if (!attempt.verdict.accepted()) return false;
  if (than == nullptr) return true;
  if (!attempt.measurement || !than->measurement) return attempt.became_best;
  return attempt.measurement->median_ns < than->measurement->median_ns;
}

}  // namespace kw

#pragma once
// Random terms of the mod language. Everything drawn here is continuous in the score and bounded, so that single and
// double precision may differ by rounding only; what depends on indices alone may jump as it likes, because integers
// are exact. Masking values are what f32 and double agree on: those that are put in a score's place, and those that are
// added, so large that both lose the score. Those are never negated: two of them that cancel leave the score where a
// kernel adds them first, and nothing where it adds as it is written.

#include "tests/differential/random_attention.hpp"

namespace kw {

[[nodiscard]] Term random_score_mod(Rng& rng);
[[nodiscard]] Term random_mask(Rng& rng);

/// A captured tensor that terms may read, as it stands in a problem file.
struct RandomCapture {
  const char* name;
  const char* declaration;  ///< keys of its table
};
[[nodiscard]] const std::vector<RandomCapture>& random_captures();

}  // namespace kw

#pragma once
// Masks that are data: a captured tensor of 0 and -infinity, or of 0 and the smallest float, that is added to the
// scores. Nobody knows its values before the kernel runs, so the kernel compares: a key whose term is far enough below
// the largest term of its row has probability zero in f32, whatever the dot products are. Rows of nothing but losing
// terms keep all of their keys, as in Python.

#include <functional>
#include <optional>
#include <string>

#include "mod/expression/expr.hpp"

namespace kw {

/// A part of the score that may be far below the others' of its row.
struct LosingTerm {
  ModFunction term;       ///< real, on the indices alone; -infinity where the mask_mod lets no key through
  double distance = 0.0;  ///< a key that is this far below the row's largest term cannot count
};

/// What a term must be above for its key to count in a row whose largest term is `largest`. Beyond k_ordinary_term
/// floats are so coarse that only -infinity is sure to lose.
inline constexpr double k_ordinary_term = 16'777'216.0;  // 2^24
[[nodiscard]] double losing_limit(double largest, double distance);

/// Whether the captured tensor of this name may hold a mask.
using MaskTest = std::function<bool(const std::string& capture)>;

/// The term of the score_mod that decides which keys cannot count, as long as no score that comes into it is larger
/// than `score_bound`, either way. Nothing where all terms are ordinary numbers, where two of them may not be, or where
/// what is left of the score_mod may grow without bounds; and where no element of a mask comes into the term: looking
/// for keys that lose by a bias of position takes time, and there are none.
[[nodiscard]] std::optional<LosingTerm> losing_term(const std::optional<ModFunction>& score_mod,
                                                    const std::optional<ModFunction>& mask_mod, double score_bound,
                                                    const MaskTest& may_be_mask);

}  // namespace kw

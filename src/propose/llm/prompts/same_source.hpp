#pragma once
// Whether two bundles are one kernel with other numbers. For choosing what a model is shown: a second copy of a source
// tells it nothing.

#include "base/hash.hpp"
#include "record/bundle.hpp"

namespace kw {

/// Of the source without its comments and blanks, and of what is launched. Tunables and their values, dispatch rows,
/// constraints and provenance make no difference.
[[nodiscard]] Hash source_identity(const Bundle& bundle);

/// Of the whole bundle, with the source as for source_identity and the variables that it declares named by their order:
/// one that repeats another with other names, comments and blanks has the same. Conservative: a variable behind a comma
/// or of a type with a name of its own keeps its name.
[[nodiscard]] Hash novelty_identity(const Candidate& candidate);

/// How little two sources have in common, 0 to 1: one minus the share of common runs of four words (Jaccard).
[[nodiscard]] double source_distance(const Bundle& a, const Bundle& b);

}  // namespace kw

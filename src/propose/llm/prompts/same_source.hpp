#pragma once
// Whether two bundles are one kernel with other numbers. For choosing what a model is shown: a second copy of a source
// tells it nothing.

#include "base/hash.hpp"
#include "record/bundle.hpp"

namespace kw {

/// Of the source without its comments and blanks, and of what is launched. Tunables and their values, dispatch rows,
/// constraints and provenance make no difference.
[[nodiscard]] Hash source_identity(const Bundle& bundle);

}  // namespace kw

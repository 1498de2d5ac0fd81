#pragma once
// The helpers for captured tensors, one text per element type.

#include <string>
#include <vector>

#include "codegen/opencl_helpers.hpp"

namespace kw {

/// As the text calls it; empty for helpers that have nothing to do with captures.
[[nodiscard]] std::string capture_helper_name(OpenClHelper helper);
/// The definition; empty for helpers that have nothing to do with captures.
[[nodiscard]] std::string capture_helper_source(OpenClHelper helper);
/// Helpers that this one calls.
[[nodiscard]] std::vector<OpenClHelper> capture_helper_needs(OpenClHelper helper);

}  // namespace kw

#pragma once
// The helpers for captured tensors, one text per element type.

#include <string>
#include <vector>

#include "codegen/kernel_helpers.hpp"

namespace kw {

/// As the text calls it; empty for helpers that have nothing to do with captures.
[[nodiscard]] std::string capture_helper_name(KernelHelper helper);
/// The definition; empty for helpers that have nothing to do with captures.
[[nodiscard]] std::string capture_helper_source(KernelHelper helper, SourceLanguage language);
/// Helpers that this one calls.
[[nodiscard]] std::vector<KernelHelper> capture_helper_needs(KernelHelper helper);

}  // namespace kw

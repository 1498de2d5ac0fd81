#pragma once
// Names that a problem file may not give to its own axes and captured tensors, because they pass into kernels as they
// are.

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace kw {

/// What may carry a name of the user's own.
enum class NamedThing { axis, tensor };

/// Letters, digits and underscores, 40 characters, a letter first (of a tensor a small one), and nothing that OpenCL C,
/// Python, the bundle format or the generated kernels use. The error says what else to write and carries no place.
[[nodiscard]] Result<void> check_own_name(std::string_view name, NamedThing thing);

}  // namespace kw

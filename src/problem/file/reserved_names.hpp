#pragma once
// Names that a problem file may not give to its own axes and captured tensors, because they pass into bundles as they
// are. Words of C and names that kernels use inside are no matter: there kernel_name() of codegen sets a user's name
// apart.

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "problem/operator.hpp"

namespace kw {

/// What may carry a name of the user's own.
enum class NamedThing { axis, tensor };

/// Letters, digits and underscores, 40 characters, no digit first; nothing that means something else to a mod (words of
/// Python, its modules, the operator's operands and axes) or to a bundle (definitions of the kernels in kernels/,
/// functions of expressions, and for an axis device facts). The error says what else to write and carries no place.
[[nodiscard]] Result<void> check_own_name(std::string_view name, NamedThing thing, const OperatorFormat& format);

}  // namespace kw

#pragma once
// From a function that the tracer found to the mod it stands for: what role its parameters give it, and the trace of
// its call on the symbolic score and indices.

#include <cstddef>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "mod/frontend/parser.hpp"
#include "mod/frontend/tracer.hpp"
#include "mod/frontend/value.hpp"

namespace kw {

/// What FlexAttention looks at to tell a score_mod from a mask_mod.
struct ModSignature {
  std::string name;
  std::size_t required = 0;  ///< parameters without a default value and not bound by functools.partial
  SourcePlace where;
};
/// errc::mod_signature when `function` is nothing that has parameters.
[[nodiscard]] Result<ModSignature> signature_of(const ModValue& function, const SourcePlace& where);

/// 5 required parameters make a score_mod, 4 a mask_mod; errc::mod_signature otherwise.
[[nodiscard]] Result<ModRole> role_of(const ModSignature& signature);
/// errc::mod_signature when the function has another role.
[[nodiscard]] Result<void> check_role(const ModSignature& signature, ModRole role);
[[nodiscard]] std::string_view role_name(ModRole role);

/// Calls `function` and checks the type of what it returns: a boolean of a mask_mod, a number of a score_mod.
[[nodiscard]] Result<ExprId> trace_mod(ModTracer& tracer, const ModValue& function, const ModSignature& signature,
                                       ModRole role);

}  // namespace kw

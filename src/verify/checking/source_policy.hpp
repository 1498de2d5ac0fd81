#pragma once
// What a kernel's source may reach for. The sandbox keeps a compiler from reading the user's files; this keeps a bundle
// whole, so that it means the same on every machine.

#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "tensor/int_expr.hpp"

namespace kw {

namespace errc {
inline constexpr ErrorCode source_forbidden{"verify.source_forbidden"};
}  // namespace errc

/// The first directive that reaches for another file, as it is to be named to the author (cut when it is long), or what
/// makes directives uncertain (SourceLines::ambiguous), or nothing. A target's kernel headers
/// (language/kernel_headers.hpp) are no other files when they stand between angle brackets.
[[nodiscard]] std::optional<std::string> forbidden_directive(const std::string& source, std::string_view target);

/// The same as a message that also says what may be included; and, where a simulator compiles the source anew, what
/// could hide on which names its conditions depend.
[[nodiscard]] std::optional<std::string> source_problem(const std::string& source, std::string_view target);

/// What is compiled of a candidate's source, by the device's compiler as by a simulator's. Names that its conditions
/// depend on are undefined, but those of `definitions`, which are the build's. A pragma makes the identifiers errors
/// which its language forbids (Language::forbidden), also where macros put them together. Lines keep their numbers.
[[nodiscard]] std::string guarded_source(const std::string& source, std::string_view target,
                                         const IntBindings& definitions);

/// A build's log without what the compiler says of the guard.
[[nodiscard]] std::string without_guard(const std::string& build_log);

/// Why a build failed that met one of these, by the compiler's log: a sentence with the place ("kernel.cl:3:5").
/// Nothing when it met none.
[[nodiscard]] std::optional<std::string> forbidden_identifier(std::string_view build_log);

}  // namespace kw

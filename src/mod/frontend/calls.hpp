#pragma once
// The table of library functions and methods a mod may call. A new one is a new row.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "mod/frontend/tracer.hpp"
#include "mod/frontend/value.hpp"

namespace kw {

/// Calls `path` ("torch.where", "math.log", "float"). Unknown: errc::mod_unknown_name with the nearest as the hint.
[[nodiscard]] Result<ModValue> call_library(ModTracer& tracer, const std::string& path, CallArguments arguments,
                                            const SourcePlace& where);
/// Calls a method of a value, such as `.abs()`.
[[nodiscard]] Result<ModValue> call_method(ModTracer& tracer, const MethodRef& method, CallArguments arguments,
                                           const SourcePlace& where);
/// A constant of a library, such as torch.inf or math.pi; nothing when `path` is not one.
[[nodiscard]] std::optional<double> library_constant(std::string_view path);
/// The first argument of an autograd function's forward.
[[nodiscard]] bool is_autograd_context(const ModValue& value);
/// append and the like.
[[nodiscard]] bool is_list_method(std::string_view name);
/// "torch.where" for "where", "functools.partial" for "partial": what people write when they forget the import.
[[nodiscard]] std::optional<std::string> full_library_name(std::string_view name);
/// Names known without an import: torch, math, F, functools, operator, and_masks, or_masks, noop_mask, and Python's own
/// functions.
[[nodiscard]] bool is_builtin_name(std::string_view name);
[[nodiscard]] std::vector<std::string> builtin_names();

}  // namespace kw

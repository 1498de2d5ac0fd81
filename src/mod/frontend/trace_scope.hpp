#pragma once
// The scopes that a trace looks names up in, and who is asked for the names that no scope holds.

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "mod/frontend/value.hpp"
#include "python/ast.hpp"

namespace kw {

/// Names of a module that is read only as far as it is needed (module_names.hpp). `definitions` asks for what a def or
/// an import binds, otherwise for what an assignment binds; nothing when there is no such name.
using NameSource = std::function<Result<std::optional<ModValue>>(const std::string& name, bool definitions)>;

/// The file that a module's statements stand in.
struct TraceHome {
  std::string package;   ///< where "from . import" looks: "pkg" in pkg/__init__.py and in pkg/masks.py
  std::size_t file = 0;  ///< as ImportedModules counts; 0 is the file that was named
};

struct TraceScope {
  std::map<std::string, ModValue, std::less<>> names;
  const TraceScope* parent = nullptr;  ///< null for the module's scope
  const NameSource* source = nullptr;  ///< where the names of a scope without parent come from; null for set_names()
  const TraceHome* home = nullptr;     ///< of a scope without parent; null for the file that was named
};
[[nodiscard]] inline const TraceScope& root_of(const TraceScope& scope) {
  return scope.parent == nullptr ? scope : root_of(*scope.parent);
}

/// What imports stand for that are no library's.
struct ImportSource {
  /// The value of "pkg.masks.causal" where `home` asks for it; nothing when it is a module, or not of a file.
  std::function<Result<std::optional<ModValue>>(const std::string& path, const TraceHome* home,
                                                const SourcePlace& where)>
      find;
  /// The files that would have made a module of `path`; empty for a library's.
  std::function<std::string(std::string_view path)> looked_for;
};

/// What an attribute such as "outer(8).inner" means before it is evaluated; nothing when it is an ordinary one.
using MemberSource = std::function<Result<std::optional<ModValue>>(const PyExpr& attribute)>;

}  // namespace kw

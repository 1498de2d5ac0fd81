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

struct TraceScope {
  std::map<std::string, ModValue, std::less<>> names;
  const TraceScope* parent = nullptr;  ///< null for the module's scope
  const NameSource* source = nullptr;  ///< where the names of a scope without parent come from; null for set_names()
};

/// What an attribute such as "outer(8).inner" means before it is evaluated; nothing when it is an ordinary one.
using MemberSource = std::function<Result<std::optional<ModValue>>(const PyExpr& attribute)>;

}  // namespace kw

// Locals of a function that makes a mod: a tensor that the problem declares wins over what the function would compute
// under the same name, as it wins over an assignment of the file.

#include <algorithm>
#include <string>
#include <vector>

#include "mod/frontend/tracer.hpp"

namespace kw {
namespace {

void add_target_names(const PyExpr& target, std::vector<std::string>& names) {
  if (target.kind == PyExprKind::name) names.push_back(target.text);
  for (const auto& child : target.children) add_target_names(*child, names);
}

/// A name in `expr` that stands for a list of the function.
const PyExpr* find_list(const PyExpr& expr, const TraceScope& scope) {
  if (expr.kind == PyExprKind::name) {
    for (const auto* level = &scope; level != nullptr; level = level->parent) {
      const auto found = level->names.find(expr.text);
      if (found == level->names.end()) continue;
      return holds_list(found->second) ? &expr : nullptr;
    }
  }
  for (const auto& child : expr.children) {
    if (const auto* found = find_list(*child, scope)) return found;
  }
  for (const auto& clause : expr.clauses) {
    if (const auto* found = find_list(*clause.iterable, scope)) return found;
  }
  return nullptr;
}

}  // namespace

Result<bool> ModTracer::assign_declared(const PyStatement& statement, TraceScope& scope) {
  if (!declared_wins_ || scope.parent == nullptr) return false;
  std::vector<std::string> names;
  for (const auto& target : statement.targets) {
    // An element is a list's: there are no others that a mod may assign.
    if (target->kind == PyExprKind::subscript || target->kind == PyExprKind::attribute) return false;
    add_target_names(*target, names);
  }
  const auto declared = [&](const std::string& name) {
    const auto& captures = problem_.captures;
    return std::any_of(captures.begin(), captures.end(), [&](const auto& capture) { return capture.name == name; });
  };
  const auto first = std::find_if(names.begin(), names.end(), declared);
  if (first == names.end()) return false;
  if (!std::all_of(names.begin(), names.end(), declared)) {
    const auto other = *std::find_if_not(names.begin(), names.end(), declared);
    return fail(Error{errc::mod_unsupported,
                      fmt::format("the problem declares '{}', but not '{}' beside it", *first, other),
                      fmt::format("declare '{}' too, or assign them one by one", other), statement.where});
  }
  if (const auto* list = find_list(*statement.value, scope)) {
    return fail(Error{errc::mod_unsupported,
                      fmt::format("what gives '{}' its value is not executed, and may change '{}'", *first, list->text),
                      "make it a tuple outside of the function", list->where});
  }
  for (const auto& name : names) scope.names[name] = *problem_name(name, statement.where);
  return true;
}

}  // namespace kw

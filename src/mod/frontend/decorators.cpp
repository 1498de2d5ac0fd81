// Decorators: those of the file are called as Python calls them, those of libraries that change nothing are skipped.

#include <utility>

#include "mod/frontend/library_values.hpp"
#include "mod/frontend/tracer.hpp"

namespace kw {
namespace {

/// "a.b" of "@a.b(1)(2)".
const PyExpr& callee_of(const PyExpr& decorator) {
  const auto* expr = &decorator;
  while (expr->kind == PyExprKind::call) expr = expr->children[0].get();
  return *expr;
}

/// How a class hands the function out, which ModuleNames::member() knows.
bool is_method_kind(const PyExpr& decorator) {
  return decorator.kind == PyExprKind::name && (decorator.text == "staticmethod" || decorator.text == "classmethod");
}

}  // namespace

Result<ModValue> ModTracer::decorate(ModValue function, const PyFunction& definition, const TraceScope& scope) {
  const auto& decorators = definition.decorators;
  for (auto next = decorators.rbegin(); next != decorators.rend(); ++next) {
    const PyExpr& decorator = **next;
    if (is_method_kind(decorator)) continue;
    KW_TRY(auto made, evaluate(callee_of(decorator), scope));
    const auto* library = made.as<LibraryRef>();
    // Arguments of torch.compile are its own business and may be anything.
    if (library != nullptr && keeps_function(library->path)) continue;
    if (library == nullptr || library->path == "functools.partial") {
      KW_TRY(made, evaluate(decorator, scope));
      const auto* partial = made.as<PartialRef>();
      library = partial == nullptr ? made.as<LibraryRef>() : partial->callee->as<LibraryRef>();
      if (library != nullptr && keeps_function(library->path)) continue;
    }
    if (library != nullptr) {
      return fail(Error{errc::mod_unsupported,
                        fmt::format("what the decorator {} makes of '{}' is not known", library->path, definition.name),
                        "leave it out, or paste its definition above the function", decorator.where});
    }
    KW_TRY(function, call(made, {{std::move(function)}, {}}, decorator.where));
  }
  return function;
}

}  // namespace kw

// Expressions but names, calls, operators and subscripts, which have files of their own.

#include <memory>
#include <utility>

#include "mod/frontend/library_values.hpp"
#include "mod/frontend/trace_depth.hpp"
#include "mod/frontend/tracer.hpp"

namespace kw {
namespace {}  // namespace

Result<ModValue> ModTracer::evaluate(const PyExpr& expr, const TraceScope& scope) {
  const TraceDepth level(depth_);
  KW_TRY_VOID(check_size(expr.where));
  return evaluate_kind(expr, scope);
}

// NOLINTNEXTLINE(readability-function-size): a table
Result<ModValue> ModTracer::evaluate_kind(const PyExpr& expr, const TraceScope& scope) {
  switch (expr.kind) {
    case PyExprKind::integer:
      return ModValue{expr.integer};
    case PyExprKind::real:
      return ModValue{expr.real};
    case PyExprKind::text:
      return ModValue{expr.text};
    case PyExprKind::formatted:
      return fail_at(errc::mod_unsupported, expr.where, "f-strings are not supported",
                     "only the label of a function, mod.__name__ = f\"...\", may be one");
    case PyExprKind::boolean:
      return ModValue{expr.integer != 0};
    case PyExprKind::none:
      return ModValue{};
    case PyExprKind::ellipsis:
      return ModValue{EllipsisRef{}};
    case PyExprKind::name:
      return name(expr, scope);
    case PyExprKind::attribute:
      return attribute(expr, scope);
    case PyExprKind::call:
      return call_expr(expr, scope);
    case PyExprKind::subscript:
      return subscript(expr, scope);
    case PyExprKind::slice:
      return slice(expr, scope);
    case PyExprKind::unary: {
      KW_TRY(const auto operand, evaluate(*expr.children[0], scope));
      return unary(expr.text, operand, expr.where);
    }
    case PyExprKind::binary: {
      KW_TRY(const auto left, evaluate(*expr.children[0], scope));
      KW_TRY(const auto right, evaluate(*expr.children[1], scope));
      return binary(expr.text, left, right, expr.where);
    }
    case PyExprKind::comparison:
      return comparison(expr, scope);
    case PyExprKind::logical:
      return logical(expr, scope);
    case PyExprKind::conditional:
      return conditional(expr, scope);
    case PyExprKind::lambda:
      return closure(*expr.function, scope);
    case PyExprKind::tuple:
    case PyExprKind::list: {
      KW_TRY(auto items, evaluate_all(expr.children, scope));
      return make_tuple(std::move(items), expr.kind == PyExprKind::list, expr.where);
    }
    case PyExprKind::chain:
      return chain(expr, scope);
    case PyExprKind::dictionary:  // made by the parser's module dialect alone
    case PyExprKind::starred:
      break;
    case PyExprKind::comprehension:
      return comprehension(expr, scope);
  }
  return fail_at(errc::mod_syntax, expr.where, "a starred expression cannot stand here");
}

/// The values of the items of a display or of positional arguments; starred ones are spread out.
Result<std::vector<ModValue>> ModTracer::evaluate_all(const std::vector<PyExprPtr>& expressions,
                                                      const TraceScope& scope) {
  std::vector<ModValue> values;
  for (const auto& expr : expressions) {
    if (expr->kind != PyExprKind::starred) {
      KW_TRY(auto value, evaluate(*expr, scope));
      values.push_back(std::move(value));
      continue;
    }
    KW_TRY(const auto spread, evaluate(*expr->children[0], scope));
    KW_TRY(auto items, items_of(spread, expr->where));
    for (auto& item : items) values.push_back(std::move(item));
  }
  return values;
}

Result<ModValue> ModTracer::logical(const PyExpr& expr, const TraceScope& scope) {
  const bool is_and = expr.text == "and";
  const std::string hint = is_and ? "join boolean values with '&', each comparison in parentheses: (a < b) & (c < d)"
                                  : "join boolean values with '|', each comparison in parentheses: (a < b) | (c < d)";
  const auto construct = fmt::format("'{}'", expr.text);
  KW_TRY(auto left, evaluate(*expr.children[0], scope));
  KW_TRY(const bool truth, decide(left, expr.where, construct, hint));
  if (truth != is_and) return left;
  KW_TRY(auto right, evaluate(*expr.children[1], scope));
  // Python would hand the value on, but "a mask and another" is never meant so.
  if (right.is_node()) KW_TRY_VOID(decide(right, expr.where, construct, hint));
  return right;
}

Result<ModValue> ModTracer::comparison(const PyExpr& expr, const TraceScope& scope) {
  KW_TRY(const auto left, evaluate(*expr.children[0], scope));
  KW_TRY(const auto right, evaluate(*expr.children[1], scope));
  if (expr.text == "in" || expr.text == "not in") return membership(expr, left, right);
  if (expr.text != "is" && expr.text != "is not") return binary(expr.text, left, right, expr.where);
  const bool positive = expr.text == "is";
  for (const auto* side : {&left, &right}) {
    const auto* library = side->as<LibraryRef>();
    if (library != nullptr && !is_known_of_library(library->path)) return unknown_of_library(library->path, expr.where);
  }
  if (left.is_none() || right.is_none()) return ModValue{(left.is_none() == right.is_none()) == positive};
  if (left.as<bool>() != nullptr && right.as<bool>() != nullptr) {
    return ModValue{(*left.as<bool>() == *right.as<bool>()) == positive};
  }
  return fail_at(errc::mod_unsupported, expr.where, fmt::format("'{}' compares with None only", expr.text),
                 positive ? "write '=='" : "write '!='");
}

/// Of values that Python knows; of those of the kernel Python would ask for the truth of the first comparison.
Result<ModValue> ModTracer::chain(const PyExpr& expr, const TraceScope& scope) {
  KW_TRY(auto left, evaluate(*expr.children[0], scope));
  for (std::size_t i = 0; i < expr.names.size(); ++i) {
    const std::string& op = expr.names[i];
    KW_TRY(auto right, evaluate(*expr.children[i + 1], scope));
    const bool of_words = op.starts_with("i") || op.starts_with("n");  // is, in, not in
    KW_TRY(const auto holds, of_words ? Result<ModValue>(ModValue{}) : binary(op, left, right, expr.where));
    const bool* known = holds.as<bool>();
    if (known == nullptr) {
      return fail_at(errc::mod_unsupported, expr.where,
                     "chained comparisons are not supported (PyTorch refuses them too)",
                     "put each comparison in parentheses and join them with '&': (a < b) & (b < c)");
    }
    if (!*known) return ModValue{false};
    left = std::move(right);
  }
  return ModValue{true};
}

Result<ModValue> ModTracer::membership(const PyExpr& expr, const ModValue& item, const ModValue& container) {
  if (container.as<TensorRef>() != nullptr || container.is_node() || item.is_node() ||
      item.as<TensorRef>() != nullptr) {
    return fail_at(errc::mod_unsupported, expr.where,
                   fmt::format("'{}' works on values Python knows, but one is only known in the kernel", expr.text),
                   "compare with each value and join the comparisons with '|'");
  }
  KW_TRY(const auto items, items_of(container, expr.where));
  bool found = false;
  for (const auto& candidate : items) {
    KW_TRY(const bool same, equals(candidate, item, expr.where));
    found = found || same;
  }
  return ModValue{found == (expr.text == "in")};
}

/// Python's == between values known at trace time; tuples item by item.
Result<bool> ModTracer::equals(const ModValue& left, const ModValue& right, const SourcePlace& where) {
  KW_TRY_VOID(check_size(where));
  const auto* left_items = left.as<TupleRef>();
  const auto* right_items = right.as<TupleRef>();
  if (left_items != nullptr && right_items != nullptr) {
    bool same = left_items->items->size() == right_items->items->size() && left_items->list == right_items->list;
    for (std::size_t i = 0; same && i < left_items->items->size(); ++i) {
      KW_TRY(same, equals((*left_items->items)[i], (*right_items->items)[i], where));
    }
    return same;
  }
  const auto* left_text = left.as<std::string>();
  const auto* right_text = right.as<std::string>();
  if (left_text != nullptr && right_text != nullptr) return *left_text == *right_text;
  const auto* left_library = left.as<LibraryRef>();
  const auto* right_library = right.as<LibraryRef>();
  if (left_library != nullptr && right_library != nullptr && left_library->path == right_library->path) return true;
  for (const auto* library : {left_library, right_library}) {
    const bool alone = left_library == nullptr || right_library == nullptr;
    if (library != nullptr && (alone || !is_known_of_library(library->path))) {
      return unknown_of_library(library->path, where);
    }
  }
  if (left_library != nullptr) return false;
  const bool numbers = (left.is_number() || left.is_node()) && (right.is_number() || right.is_node());
  if (!numbers) return left.is_none() && right.is_none();
  KW_TRY(const auto same, binary("==", left, right, where));
  return decide(same, where, "a comparison of tuples", "compare the elements one by one and join them with '&'");
}

Result<ModValue> ModTracer::conditional(const PyExpr& expr, const TraceScope& scope) {
  KW_TRY(const auto condition, evaluate(*expr.children[0], scope));
  const auto* library = condition.as<LibraryRef>();
  if (library != nullptr && !is_known_of_library(library->path)) {
    // "cuda" if torch.cuda.is_available() else "cpu": a text is good for nothing but a device, which does not matter.
    const auto is_text = [](const PyExprPtr& child) { return child->kind == PyExprKind::text; };
    if (is_text(expr.children[1]) && is_text(expr.children[2])) return ModValue{LibraryRef{"torch.device"}};
  }
  KW_TRY(const bool taken,
         decide(condition, expr.where, "'if'", "write torch.where(condition, value_if_true, value_if_false)"));
  return evaluate(*expr.children[taken ? 1 : 2], scope);
}

/// A generator is run at once: nothing here can see the difference.
Result<ModValue> ModTracer::comprehension(const PyExpr& expr, const TraceScope& scope) {
  // One scope for all turns, as in Python: a lambda made inside sees the last value of the loop's names.
  scopes_.emplace_back();
  auto& inner = scopes_.back();
  inner.parent = &scope;
  std::vector<ModValue> values;
  KW_TRY_VOID(comprehend(expr, 0, inner, values));
  return make_tuple(std::move(values), true, expr.where);
}

Result<void> ModTracer::comprehend(const PyExpr& expr, std::size_t clause, TraceScope& scope,
                                   std::vector<ModValue>& into) {
  const TraceDepth level(depth_);
  KW_TRY_VOID(check_size(expr.where));
  if (clause == expr.clauses.size()) {
    KW_TRY(auto value, evaluate(*expr.children[0], scope));
    into.push_back(std::move(value));
    return {};
  }
  const auto& here = expr.clauses[clause];
  KW_TRY(const auto iterable, evaluate(*here.iterable, scope));
  KW_TRY(const auto items, items_of(iterable, here.iterable->where));
  for (const auto& item : items) {
    KW_TRY_VOID(assign(*here.target, item, scope));
    bool wanted = true;
    for (const auto& condition : here.conditions) {
      KW_TRY(const auto value, evaluate(*condition, scope));
      KW_TRY(const bool holds, decide(value, condition->where, "the 'if' of a comprehension",
                                      "choose between values with torch.where instead"));
      wanted = wanted && holds;
      if (!wanted) break;
    }
    if (wanted) KW_TRY_VOID(comprehend(expr, clause + 1, scope, into));
  }
  return {};
}

Result<ModValue> ModTracer::slice(const PyExpr& expr, const TraceScope& scope) {
  KW_TRY(auto parts, evaluate_all(expr.children, scope));
  return ModValue{SliceRef{std::make_shared<const std::vector<ModValue>>(std::move(parts))}};
}

Result<ModValue> ModTracer::call_expr(const PyExpr& expr, const TraceScope& scope) {
  auto found = evaluate(*expr.children[0], scope);
  if (!found) {
    auto& error = found.error();
    const auto& written = *expr.children[0];
    const bool unknown = error.code == errc::mod_unknown_name && written.kind == PyExprKind::name &&
                         error.where.line == written.where.line && error.where.column == written.where.column;
    if (unknown && error.hint.starts_with("declare")) error.hint = "paste the definition of the function above the mod";
    return found;
  }
  const auto callee = *std::move(found);
  CallArguments arguments;
  for (std::size_t i = 0; i < expr.names.size(); ++i) {
    const auto& argument = *expr.children[i + 1];
    if (argument.kind == PyExprKind::starred) {
      KW_TRY(const auto spread, evaluate(*argument.children[0], scope));
      KW_TRY(auto items, items_of(spread, argument.where));
      for (auto& item : items) arguments.positional.push_back(std::move(item));
      continue;
    }
    KW_TRY(auto value, evaluate(argument, scope));
    if (expr.names[i].empty()) {
      arguments.positional.push_back(std::move(value));
    } else {
      arguments.keywords.emplace_back(expr.names[i], std::move(value));
    }
  }
  builder_.set_place(expr.where);
  return call(callee, std::move(arguments), expr.where);
}

}  // namespace kw

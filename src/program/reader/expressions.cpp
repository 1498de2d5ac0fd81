#include <algorithm>

#include "base/closest_name.hpp"
#include "program/operators/schema.hpp"
#include "program/reader/formatting.hpp"
#include "program/reader/interpreter.hpp"
#include "python/parser.hpp"

namespace kw {
namespace {

constexpr std::string_view k_builtin_names[] = {"len",
                                                "range",
                                                "int",
                                                "float",
                                                "bool",
                                                "str",
                                                "abs",
                                                "min",
                                                "max",
                                                "sum",
                                                "round",
                                                "list",
                                                "tuple",
                                                "enumerate",
                                                "slice",
                                                "zip",
                                                "dict",
                                                "reversed",
                                                "map",
                                                "print",
                                                "isinstance",
                                                "hasattr",
                                                "getattr",
                                                "any",
                                                "setattr",
                                                "all",
                                                "sorted",
                                                "super",
                                                "pow",
                                                "divmod",
                                                "type",
                                                "object",
                                                "callable",
                                                "set",
                                                "id",
                                                "iter",
                                                "next",
                                                "ValueError",
                                                "NotImplementedError",
                                                "AssertionError",
                                                "RuntimeError",
                                                "TypeError",
                                                "staticmethod",
                                                "property",
                                                "classmethod"};

}  // namespace

Result<void> PyInterpreter::charge(std::int64_t steps, const SourcePlace& where) {
  steps_ += steps;
  if (steps_ <= k_most_steps) return {};
  return fail_at(errc::program_limit, where, fmt::format("reading takes more than {} steps", k_most_steps),
                 "write long loops over numbers as operations on tensors");
}

Result<PyValue> PyInterpreter::evaluate(const PyExpr& expr, PyScope& scope) {
  KW_TRY_VOID(charge(1, expr.where));
  if (++depth_ > k_most_depth) {
    --depth_;
    return fail_at(errc::program_limit, expr.where,
                   fmt::format("more than {} levels of calls and expressions", k_most_depth),
                   "call fewer functions inside of one another");
  }
  auto value = evaluate_kind(expr, scope);
  --depth_;
  return value;
}

// NOLINTNEXTLINE(readability-function-size): a table
Result<PyValue> PyInterpreter::evaluate_kind(const PyExpr& expr, PyScope& scope) {
  switch (expr.kind) {
    case PyExprKind::integer:
      return PyValue{Extent(expr.integer)};
    case PyExprKind::real:
      return PyValue{expr.real};
    case PyExprKind::text:
      return PyValue{expr.text};
    case PyExprKind::formatted:
      return formatted(expr, scope);
    case PyExprKind::boolean:
      return PyValue{expr.integer != 0};
    case PyExprKind::none:
      return PyValue{};
    case PyExprKind::ellipsis:
      return PyValue{PyEllipsis{}};
    case PyExprKind::name:
      return name(expr, scope);
    case PyExprKind::attribute: {
      KW_TRY(const auto object, evaluate(*expr.children[0], scope));
      return attribute(object, expr.text, expr.where);
    }
    case PyExprKind::call:
      return call_expression(expr, scope);
    case PyExprKind::subscript: {
      KW_TRY(const auto object, evaluate(*expr.children[0], scope));
      KW_TRY(const auto index, evaluate(*expr.children[1], scope));
      return subscript(object, index, expr.where);
    }
    case PyExprKind::slice:
      return slice_value(expr, scope);
    case PyExprKind::unary: {
      KW_TRY(const auto operand, evaluate(*expr.children[0], scope));
      return unary(expr.text, operand, expr.where);
    }
    case PyExprKind::binary: {
      KW_TRY(const auto left, evaluate(*expr.children[0], scope));
      KW_TRY(const auto right, evaluate(*expr.children[1], scope));
      return binary(expr.text, left, right, expr.where);
    }
    case PyExprKind::comparison: {
      KW_TRY(const auto left, evaluate(*expr.children[0], scope));
      KW_TRY(const auto right, evaluate(*expr.children[1], scope));
      return compare(expr.text, left, right, expr.where);
    }
    case PyExprKind::logical:
      return logical(expr, scope);
    case PyExprKind::chain:
      return chain(expr, scope);
    case PyExprKind::conditional: {
      KW_TRY(const auto condition, evaluate(*expr.children[0], scope));
      KW_TRY(const bool holds, truth(condition, expr.where));
      return evaluate(*expr.children[holds ? 1 : 2], scope);
    }
    case PyExprKind::lambda: {
      KW_TRY(auto* made, closure(*expr.function, scope));
      return PyValue{made};
    }
    case PyExprKind::tuple:
    case PyExprKind::list: {
      KW_TRY(auto items, evaluate_all(expr.children, scope));
      return list(std::move(items), expr.kind == PyExprKind::tuple);
    }
    case PyExprKind::comprehension:
      return comprehension(expr, scope);
    case PyExprKind::dictionary:
      return dictionary(expr, scope);
    case PyExprKind::starred:
      break;
  }
  return fail_at(errc::program_syntax, expr.where, "a starred expression cannot stand here");
}

Result<PyValue> PyInterpreter::name(const PyExpr& expr, PyScope& scope) {
  for (const auto* inside = &scope; inside != nullptr; inside = inside->outer) {
    if (const auto found = inside->names.find(expr.text); found != inside->names.end()) return found->second;
  }
  if (std::find(std::begin(k_builtin_names), std::end(k_builtin_names), expr.text) != std::end(k_builtin_names)) {
    return PyValue{PyLibraryName{expr.text}};
  }
  if (expr.text == "__name__") return PyValue{std::string("module")};
  if (const auto unread = unread_globals_.find(expr.text); unread != unread_globals_.end()) return fail(unread->second);
  std::vector<std::string> known;
  for (const auto* inside = &scope; inside != nullptr; inside = inside->outer) {
    for (const auto& [one, value] : inside->names) known.push_back(one);
  }
  const auto near = closest_name(expr.text, known);
  return fail_at(errc::program_name, expr.where, fmt::format("'{}' is not defined", expr.text),
                 near ? fmt::format("did you mean '{}'?", *near) : "assign it above, or import it");
}

Result<std::vector<PyValue>> PyInterpreter::evaluate_all(const std::vector<PyExprPtr>& expressions, PyScope& scope) {
  std::vector<PyValue> values;
  for (const auto& one : expressions) {
    if (one->kind != PyExprKind::starred) {
      KW_TRY(auto value, evaluate(*one, scope));
      values.push_back(std::move(value));
      continue;
    }
    KW_TRY(const auto iterable, evaluate(*one->children[0], scope));
    KW_TRY(auto items, items_of(iterable, one->where));
    values.insert(values.end(), items.begin(), items.end());
  }
  return values;
}

Result<PyArguments> PyInterpreter::arguments_of(const PyExpr& expr, PyScope& scope) {
  PyArguments arguments;
  for (std::size_t i = 1; i < expr.children.size(); ++i) {
    const auto& child = *expr.children[i];
    const auto& keyword = expr.names[i - 1];
    const bool starred = child.kind == PyExprKind::starred;
    KW_TRY(auto value, evaluate(starred ? *child.children[0] : child, scope));
    if (!keyword.empty()) {
      arguments.keywords.emplace_back(keyword, std::move(value));
    } else if (!starred) {
      arguments.positional.push_back(std::move(value));
    } else if (child.text == "**") {
      const auto* dictionary = value.object<PyDictionary>();
      if (dictionary == nullptr)
        return fail_at(errc::program_type, child.where, fmt::format("'**' of {}", kind_text(value)),
                       "use a dictionary");
      for (const auto& [key, one] : dictionary->items) {
        const auto* text = key.get<std::string>();
        if (text == nullptr) return fail_at(errc::program_type, child.where, "the keys of keyword arguments are texts");
        arguments.keywords.emplace_back(*text, one);
      }
    } else {
      KW_TRY(auto items, items_of(value, child.where));
      arguments.positional.insert(arguments.positional.end(), items.begin(), items.end());
    }
  }
  return arguments;
}

Result<PyValue> PyInterpreter::call_expression(const PyExpr& expr, PyScope& scope) {
  const auto& callee = *expr.children[0];
  if (callee.kind == PyExprKind::name && callee.text == "super") {
    // super() and super(Model, self) are the same where a class is based on one other.
    const auto* inside = &scope;
    while (inside != nullptr && inside->names.find("__class__") == inside->names.end()) inside = inside->outer;
    const bool method = inside != nullptr && inside->names.find("self") != inside->names.end();
    if (!method) {
      return fail_at(errc::program_unsupported, expr.where,
                     "super() is read in methods whose first parameter is 'self'",
                     "call the method of the class by name");
    }
    auto* owner = inside->names.find("__class__")->second.object<PyClass>();
    return PyValue{heap_.method({inside->names.find("self")->second, nullptr, "super", owner})};
  }
  if (callee.kind == PyExprKind::name && callee.text == "locals" && expr.children.size() == 1) {
    auto* dictionary = heap_.dictionary();
    for (const auto& [name, value] : scope.names) dictionary->items.emplace_back(PyValue{name}, value);
    KW_TRY_VOID(charge(static_cast<std::int64_t>(dictionary->items.size()), expr.where));
    return PyValue{dictionary};
  }
  KW_TRY(const auto function, evaluate(callee, scope));
  KW_TRY(auto arguments, arguments_of(expr, scope));
  return call(function, std::move(arguments), spelled(callee), expr.where);
}

Result<PyValue> PyInterpreter::comprehension(const PyExpr& expr, PyScope& scope) {
  std::vector<PyValue> items;
  KW_TRY_VOID(clause(expr, 0, *heap_.scope(&scope), items));
  if (expr.children.size() == 1) return list(std::move(items));
  auto* dictionary = heap_.dictionary();
  for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
    KW_TRY_VOID(charge(static_cast<std::int64_t>(dictionary->items.size()), expr.where));
    dictionary->put(items[i], items[i + 1]);
  }
  return PyValue{dictionary};
}

Result<void> PyInterpreter::clause(const PyExpr& expr, std::size_t index, PyScope& scope, std::vector<PyValue>& items) {
  if (index == expr.clauses.size()) {
    for (const auto& child : expr.children) {
      KW_TRY(auto value, evaluate(*child, scope));
      items.push_back(std::move(value));
    }
    return {};
  }
  const auto& here = expr.clauses[index];
  KW_TRY(const auto iterable, evaluate(*here.iterable, scope));
  KW_TRY(const auto values, items_of(iterable, here.iterable->where));
  for (const auto& value : values) {
    KW_TRY_VOID(assign(*here.target, value, scope));
    bool holds = true;
    for (const auto& condition : here.conditions) {
      KW_TRY(const auto tested, evaluate(*condition, scope));
      KW_TRY(const bool one, truth(tested, condition->where));
      holds = holds && one;
    }
    if (holds) KW_TRY_VOID(clause(expr, index + 1, scope, items));
  }
  return {};
}

Result<PyValue> PyInterpreter::dictionary(const PyExpr& expr, PyScope& scope) {
  auto* made = heap_.dictionary();
  for (std::size_t i = 0; i + 1 < expr.children.size(); i += 2) {
    const bool unpacked = expr.children[i]->kind == PyExprKind::starred;
    KW_TRY(auto key, evaluate(unpacked ? *expr.children[i]->children[0] : *expr.children[i], scope));
    if (unpacked) {
      const auto* more = key.object<PyDictionary>();
      if (more == nullptr)
        return fail_at(errc::program_type, expr.children[i]->where, fmt::format("'**' of {}", kind_text(key)),
                       "use a dictionary");
      KW_TRY_VOID(charge(static_cast<std::int64_t>(made->items.size() * more->items.size()), expr.where));
      for (const auto& [one, held] : more->items) made->put(one, held);
      continue;
    }
    KW_TRY(auto value, evaluate(*expr.children[i + 1], scope));
    KW_TRY_VOID(charge(static_cast<std::int64_t>(made->items.size()), expr.where));
    if (const auto* text = key.get<std::string>()) KW_TRY_VOID(check_name(*text, expr.children[i]->where));
    made->put(std::move(key), std::move(value));
  }
  return PyValue{made};
}

Result<PyValue> PyInterpreter::logical(const PyExpr& expr, PyScope& scope) {
  KW_TRY(auto left, evaluate(*expr.children[0], scope));
  KW_TRY(const bool holds, truth(left, expr.where));
  if (holds == (expr.text == "or")) return left;
  return evaluate(*expr.children[1], scope);
}

Result<PyValue> PyInterpreter::chain(const PyExpr& expr, PyScope& scope) {
  KW_TRY(auto left, evaluate(*expr.children[0], scope));
  for (std::size_t i = 0; i < expr.names.size(); ++i) {
    KW_TRY(auto right, evaluate(*expr.children[i + 1], scope));
    KW_TRY(const auto compared, compare(expr.names[i], left, right, expr.where));
    KW_TRY(const bool holds, truth(compared, expr.where));
    if (!holds) return PyValue{false};
    left = std::move(right);
  }
  return PyValue{true};
}

Result<PyValue> PyInterpreter::formatted(const PyExpr& expr, PyScope& scope) {
  std::string text;
  std::string_view rest = expr.text;
  while (!rest.empty()) {
    if (rest.starts_with("{{") || rest.starts_with("}}")) {
      text += rest.front();
      rest.remove_prefix(2);
      continue;
    }
    const char c = rest.front();
    rest.remove_prefix(1);
    if (c != '{') {
      text += c;
      continue;
    }
    const auto end = end_of_field(rest);
    const auto field = text_field(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    auto parsed = parse_python_expression(field.expression, expr.where);
    if (!parsed) {
      text += k_unknown_text;
      continue;
    }
    KW_TRY(const auto value, evaluate(*heap_.keep(*std::move(parsed)), scope));
    text += formatted_text(field.quoted ? PyValue{quoted_text(value)} : value, field.format);
  }
  KW_TRY_VOID(charge(static_cast<std::int64_t>(text.size()), expr.where));
  return PyValue{std::move(text)};
}

Result<PyValue> PyInterpreter::slice_value(const PyExpr& expr, PyScope& scope) {
  KW_TRY(auto first, evaluate(*expr.children[0], scope));
  KW_TRY(auto last, evaluate(*expr.children[1], scope));
  KW_TRY(auto step, evaluate(*expr.children[2], scope));
  return PyValue{heap_.slice({std::move(first), std::move(last), std::move(step)})};
}

Result<bool> PyInterpreter::truth(const PyValue& value, const SourcePlace& where) const {
  if (const auto number = number_of(value)) return *number != 0.0;
  if (const auto* text = value.get<std::string>()) return !text->empty();
  if (const auto* items = value.object<PySequence>()) return !items->items.empty();
  if (const auto* dictionary = value.object<PyDictionary>()) return !dictionary->items.empty();
  if (value.object<TensorBox>() != nullptr) {
    return fail_at(errc::program_unsupported, where,
                   "a condition on the elements of a tensor cannot be known before the module runs",
                   "use torch.where, or decide by shapes and constants");
  }
  if (const auto* library = value.get<PyLibraryName>();
      library != nullptr && (is_setting(library->path) || library->path.starts_with("unread:"))) {
    return fail_at(errc::program_unsupported, where, "what a library that is not read says cannot be known",
                   "leave the condition out");
  }
  return !value.is_none();
}

}  // namespace kw

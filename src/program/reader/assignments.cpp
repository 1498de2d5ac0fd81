// What stands left of "=": names, attributes, elements, and several of them.

#include <algorithm>

#include "program/reader/interpreter.hpp"

namespace kw {

Result<void> PyInterpreter::assign(const PyExpr& target, PyValue value, PyScope& scope) {
  switch (target.kind) {
    case PyExprKind::name:
      scope.names[target.text] = std::move(value);
      return {};
    case PyExprKind::attribute: {
      KW_TRY(const auto object, evaluate(*target.children[0], scope));
      return set_attribute(object, target.text, std::move(value), target.where);
    }
    case PyExprKind::subscript:
      return assign_subscript(target, std::move(value), scope);
    default:
      return assign_items(target, value, scope);
  }
}

Result<void> PyInterpreter::assign_items(const PyExpr& target, const PyValue& value, PyScope& scope) {
  KW_TRY(auto items, items_of(value, target.where));
  const auto starred = std::find_if(target.children.begin(), target.children.end(),
                                    [](const auto& child) { return child->kind == PyExprKind::starred; });
  const auto wanted = target.children.size();
  const bool fits = starred == target.children.end() ? items.size() == wanted : items.size() + 1 >= wanted;
  if (!fits) {
    return fail_at(errc::program_value, target.where, fmt::format("{} values for {} names", items.size(), wanted));
  }
  std::size_t next = 0;
  for (const auto& child : target.children) {
    if (child->kind != PyExprKind::starred) {
      KW_TRY_VOID(assign(*child, items[next++], scope));
      continue;
    }
    const auto count = items.size() + 1 - wanted;
    std::vector<PyValue> rest(items.begin() + static_cast<std::ptrdiff_t>(next),
                              items.begin() + static_cast<std::ptrdiff_t>(next + count));
    KW_TRY_VOID(assign(*child->children[0], list(std::move(rest)), scope));
    next += count;
  }
  return {};
}

Result<void> PyInterpreter::assign_subscript(const PyExpr& target, PyValue value, PyScope& scope) {
  KW_TRY(const auto object, evaluate(*target.children[0], scope));
  KW_TRY(const auto index, evaluate(*target.children[1], scope));
  if (auto* items = object.object<PySequence>(); items != nullptr && !items->tuple) {
    const auto at = integer_of(index);
    const auto size = static_cast<std::int64_t>(items->items.size());
    if (!at || at->value() < -size || at->value() >= size)
      return fail_at(errc::program_value, target.where, "this index of a list is out of range");
    items->items[static_cast<std::size_t>(at->value() < 0 ? at->value() + size : at->value())] = std::move(value);
    return {};
  }
  if (auto* dictionary = object.object<PyDictionary>()) {
    KW_TRY_VOID(charge(static_cast<std::int64_t>(dictionary->items.size()), target.where));
    dictionary->put(index, std::move(value));
    return {};
  }
  if (auto* module = object.object<PyObject>(); module != nullptr && module->library != nullptr) {
    if (const auto* key = index.get<std::string>()) return set_attribute(object, *key, std::move(value), target.where);
    if (const auto at = integer_of(index))
      return set_attribute(object, fmt::format("{}", at->value()), std::move(value), target.where);
  }
  if (auto* tensor = object.object<TensorBox>()) {
    KW_TRY(const auto with_items, shipped("kernelwright.with_items"));
    KW_CHECK(with_items.has_value(), "no function assigns to a part of a tensor");
    KW_TRY(const auto changed,
           call(*with_items, {{object, index, std::move(value)}, {}}, "an assignment", target.where));
    return change(*tensor, changed, target.where);
  }
  return fail_at(errc::program_type, target.where, fmt::format("parts of {} cannot be assigned to", kind_text(object)));
}

Result<void> PyInterpreter::assign_augmented(const PyStatement& statement, PyScope& scope) {
  const auto& target = *statement.targets.front();
  KW_TRY(const auto held, evaluate(target, scope));
  KW_TRY(const auto value, evaluate(*statement.value, scope));
  auto* items = held.object<PySequence>();
  if (items != nullptr && !items->tuple && statement.op == "+") {
    KW_TRY(auto more, items_of(value, statement.where));
    KW_TRY_VOID(charge(static_cast<std::int64_t>(items->items.size() + more.size()), statement.where));
    items->items.insert(items->items.end(), more.begin(), more.end());
    return {};
  }
  KW_TRY(auto result, binary(statement.op, held, value, statement.op_where));
  auto* tensor = held.object<TensorBox>();
  if (tensor == nullptr || target.kind == PyExprKind::subscript) return assign(target, std::move(result), scope);
  return change(*tensor, result, statement.where);  // x += 1 also changes what else is called x
}

}  // namespace kw

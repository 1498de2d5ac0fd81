// What stands left of "=": names, attributes, elements, and several of them.

#include <algorithm>

#include "program/reader/interpreter.hpp"

namespace kw {
namespace {

/// First, last and step along an axis.
struct Span {
  std::int64_t first = 0, last = 0, step = 1;
  friend bool operator==(const Span&, const Span&) = default;
};

Span span_of(const PySliceValue& slice, std::int64_t extent) {
  const auto end = [&](const PyValue& written, std::int64_t otherwise) {
    const auto at = integer_of(written);
    if (!at) return otherwise;
    return std::clamp<std::int64_t>(at->value() < 0 ? at->value() + extent : at->value(), 0, extent);
  };
  const auto step = integer_of(slice.step);
  return {end(slice.first, 0), end(slice.last, extent), step ? std::max<std::int64_t>(step->value(), 1) : 1};
}

/// What an index of integers, slices, None and "..." takes of each axis.
std::vector<Span> spans_of(const PyValue& index, const Shape& shape) {
  const auto* several = index.object<PySequence>();
  const auto indices = several != nullptr && several->tuple ? several->items : std::vector<PyValue>{index};
  const auto used = static_cast<std::size_t>(std::ranges::count_if(
      indices, [](const PyValue& one) { return !one.is_none() && one.get<PyEllipsis>() == nullptr; }));
  std::vector<Span> spans;
  const auto take_whole = [&] { spans.push_back({0, shape[spans.size()].value(), 1}); };
  for (const auto& one : indices) {
    if (one.get<PyEllipsis>() != nullptr) {
      for (auto left = shape.size() - std::min(used, shape.size()); left > 0 && spans.size() < shape.size(); --left)
        take_whole();
    } else if (!one.is_none() && spans.size() < shape.size()) {
      const auto extent = shape[spans.size()].value();
      const auto* slice = one.object<PySliceValue>();
      const auto at = integer_of(one).value_or(0).value();
      const auto first = at < 0 ? at + extent : at;
      spans.push_back(slice != nullptr ? span_of(*slice, extent) : Span{first, first + 1, 1});
    }
  }
  while (spans.size() < shape.size()) take_whole();
  return spans;
}

bool are_apart(const Span& a, const Span& b) {
  if (a.last <= b.first || b.last <= a.first) return true;
  return a.step == b.step && (a.first - b.first) % a.step != 0;
}

}  // namespace

/// PyTorch's copy between parts of one memory that overlap gives what happens to be copied first.
Result<void> PyInterpreter::check_apart(const TensorBox& tensor, const PyValue& index, const PyValue& value,
                                        const SourcePlace& where) const {
  const auto* from = value.object<TensorBox>();
  if (from == nullptr || from->in_sources != tensor.in_sources) return {};
  const bool shares = tensor.in_sources ? from->view != nullptr && from->view->of == &tensor
                                        : storage_of(from->value) == storage_of(tensor.value);
  if (!shares) return {};
  if (from->view != nullptr && from->view->of == &tensor) {
    const auto& shape = type_of(tensor).shape;
    const auto to = spans_of(index, shape), of = spans_of(from->view->index, shape);
    bool apart = to == of;
    for (std::size_t i = 0; i < shape.size(); ++i) apart = apart || are_apart(to[i], of[i]);
    if (apart) return {};
  }
  return fail_at(errc::program_unsupported, where,
                 "a part of a tensor is assigned what may overlap it: PyTorch does not say what comes of it",
                 "assign a copy, with .clone()");
}

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
  if (const auto* key = index.get<std::string>()) KW_TRY_VOID(check_name(*key, target.where));
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
    KW_TRY_VOID(check_apart(*tensor, index, value, target.where));
    KW_TRY(const auto changed, with_items(object, index, value, target.where));
    return change(*tensor, changed, target.where);
  }
  if (const auto* library = object.get<PyLibraryName>(); library != nullptr && is_setting(library->path)) return {};
  return fail_at(errc::program_type, target.where, fmt::format("parts of {} cannot be assigned to", kind_text(object)));
}

/// del
Result<void> PyInterpreter::remove(const PyExpr& target, PyScope& scope) {
  if (target.kind == PyExprKind::name && scope.names.erase(target.text) > 0) return {};
  if (target.kind == PyExprKind::tuple || target.kind == PyExprKind::list) {
    for (const auto& child : target.children) KW_TRY_VOID(remove(*child, scope));
    return {};
  }
  const auto absent = [&] { return fail_at(errc::program_value, target.where, "'del' of what is not there"); };
  if (target.kind == PyExprKind::name) return absent();
  KW_TRY(const auto object, evaluate(*target.children[0], scope));
  if (target.kind == PyExprKind::attribute) {
    auto* held = object.object<PyObject>();
    const auto named = [&](const auto& one) { return one.first == target.text; };
    if (held == nullptr || std::erase_if(held->attributes, named) == 0) return absent();
    std::erase(held->buffers, target.text);
    return {};
  }
  KW_TRY(const auto index, evaluate(*target.children[1], scope));
  if (auto* dictionary = object.object<PyDictionary>()) {
    const auto same = [&](const auto& one) { return equal_values(one.first, index); };
    return std::erase_if(dictionary->items, same) == 0 ? absent() : Result<void>();
  }
  auto* items = object.object<PySequence>();
  if (items == nullptr || items->tuple) return absent();
  KW_TRY_VOID(popped(items->items, {index}, target.where));
  return {};
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

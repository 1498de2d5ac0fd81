// x[...] of lists and tensors.

#include <algorithm>

#include "program/reader/interpreter.hpp"

namespace kw {

Result<PyValue> PyInterpreter::subscript(const PyValue& object, const PyValue& index, const SourcePlace& where) {
  if (const auto* items = object.object<PySequence>()) return sequence_subscript(*items, index, where);
  if (object.object<TensorBox>() != nullptr) return tensor_subscript(object, index, where);
  if (const auto* dictionary = object.object<PyDictionary>()) {
    KW_TRY_VOID(charge(static_cast<std::int64_t>(dictionary->items.size()), where));
    for (const auto& [key, value] : dictionary->items) {
      if (equal_values(key, index)) return value;
    }
    const auto* text = index.get<std::string>();
    return fail_at(errc::program_name, where,
                   fmt::format("the dictionary has no key {}", text != nullptr ? "'" + *text + "'" : kind_text(index)));
  }
  if (auto* module = object.object<PyObject>(); module != nullptr && module->library != nullptr) {
    if (const auto* key = index.get<std::string>()) return attribute(object, *key, where);
    const PySequence children{children_of(*module), true};
    KW_TRY(auto part, sequence_subscript(children, index, where));
    const auto* several = part.object<PySequence>();
    if (several == nullptr) return part;
    return construct_module(*module->library, {several->items, {}}, std::string(module->library->name), where);
  }
  if (const auto* text = object.get<std::string>()) return text_subscript(*text, index, where);
  // Optional[int] and the like in annotations that are evaluated.
  if (object.get<PyLibraryName>() != nullptr) return object;
  return fail_at(errc::program_type, where, fmt::format("{} has no parts", kind_text(object)));
}

/// As of a list of its letters.
Result<PyValue> PyInterpreter::text_subscript(const std::string& text, const PyValue& index, const SourcePlace& where) {
  KW_TRY_VOID(charge(static_cast<std::int64_t>(text.size()), where));
  PySequence letters;
  for (const char c : text) letters.items.push_back(PyValue{std::string(1, c)});
  KW_TRY(const auto part, sequence_subscript(letters, index, where));
  const auto* several = part.object<PySequence>();
  if (several == nullptr) return part;
  std::string taken;
  for (const auto& letter : several->items) taken += *letter.get<std::string>();
  return PyValue{std::move(taken)};
}

Result<PyValue> PyInterpreter::sequence_subscript(const PySequence& items, const PyValue& index,
                                                  const SourcePlace& where) {
  const auto size = static_cast<std::int64_t>(items.items.size());
  if (const auto at = integer_of(index)) {
    if (at->value() < -size || at->value() >= size)
      return fail_at(errc::program_value, where, fmt::format("index {} of {} items", at->value(), size));
    return items.items[static_cast<std::size_t>(at->value() < 0 ? at->value() + size : at->value())];
  }
  const auto* slice = index.object<PySliceValue>();
  if (slice == nullptr)
    return fail_at(errc::program_type, where, fmt::format("{} as an index of a list", kind_text(index)));
  const auto step = slice->step.is_none() ? 1 : integer_of(slice->step).value_or(0).value();
  if (step == 0) return fail_at(errc::program_value, where, "the step of a slice is 0, or no integer");
  const auto end = [&](const PyValue& written, std::int64_t otherwise) {
    if (written.is_none()) return otherwise;
    auto at = integer_of(written).value_or(0).value();
    if (at < 0) at += size;
    return std::clamp<std::int64_t>(at, step > 0 ? 0 : -1, step > 0 ? size : size - 1);
  };
  const auto first = end(slice->first, step > 0 ? 0 : size - 1);
  const auto last = end(slice->last, step > 0 ? size : -1);
  std::vector<PyValue> part;
  for (auto i = first; step > 0 ? i < last : i > last;) {
    part.push_back(items.items[static_cast<std::size_t>(i)]);
    if (__builtin_add_overflow(i, step, &i)) break;
  }
  KW_TRY_VOID(charge(static_cast<std::int64_t>(part.size()), where));
  return list(std::move(part), items.tuple);
}

Result<void> PyInterpreter::apply_index(IndexWalk& walk, std::string_view op, const std::vector<GivenArgument>& rest,
                                        const SourcePlace& where) {
  KW_TRY(auto operand, argument(walk.result, where));
  std::vector<GivenArgument> given = {{"input", std::move(operand), where}, {"dim", Extent(walk.axis), where}};
  given.insert(given.end(), rest.begin(), rest.end());
  KW_TRY(walk.result, one_operator(op, given, where));
  return {};
}

/// Applies the index tensors that were met side by side.
Result<void> PyInterpreter::apply_tensors(IndexWalk& walk, const SourcePlace& where) {
  if (walk.tensors.empty()) return {};
  KW_TRY(auto tensors, argument(list(walk.tensors), where));
  Shape common;
  for (const auto& one : walk.tensors) {
    KW_TRY(common, broadcast(common, type_of(*one.object<TensorBox>()).shape));
  }
  KW_TRY_VOID(apply_index(walk, "index", {{"indices", std::move(tensors), where}}, where));
  walk.axis += static_cast<std::int64_t>(common.size());
  walk.tensors.clear();
  walk.used_tensors = true;
  return {};
}

Result<void> PyInterpreter::apply_slice(IndexWalk& walk, const PySliceValue& slice, const SourcePlace& where) {
  std::vector<GivenArgument> ends;
  for (const auto& [name, end] :
       {std::pair<const char*, const PyValue*>{"start", &slice.first}, {"end", &slice.last}, {"step", &slice.step}}) {
    if (end->is_none()) continue;
    KW_TRY(auto value, argument(*end, where));
    ends.push_back({name, std::move(value), where});
  }
  if (!ends.empty()) KW_TRY_VOID(apply_index(walk, "slice", ends, where));
  ++walk.axis;
  return {};
}

Result<void> PyInterpreter::apply_one(IndexWalk& walk, const PyValue& one, const SourcePlace& where) {
  if (one.is_none()) {
    KW_TRY_VOID(apply_index(walk, "unsqueeze", {}, where));
    ++walk.axis;
    return {};
  }
  if (one.get<PyEllipsis>() != nullptr) {
    walk.axis += walk.skipped;
    return {};
  }
  if (const auto* slice = one.object<PySliceValue>()) return apply_slice(walk, *slice, where);
  const auto at = integer_of(one);
  if (at && one.get<bool>() == nullptr) return apply_index(walk, "select", {{"index", *at, where}}, where);
  return fail_at(errc::program_type, where, fmt::format("{} as an index of a tensor", kind_text(one)),
                 "use integers, slices, None, '...' or index tensors");
}

/// One step per index, as PyTorch documents them: select, slice, unsqueeze, and index for tensors.
Result<PyValue> PyInterpreter::tensor_subscript(const PyValue& tensor, const PyValue& index, const SourcePlace& where) {
  const auto* several = index.object<PySequence>();
  const bool tuple = several != nullptr && several->tuple;
  std::vector<PyValue> indices = tuple ? several->items : std::vector<PyValue>{index};
  for (auto& one : indices) {  // a list of integers is a tensor of them
    if (one.object<PySequence>() == nullptr) continue;
    KW_TRY(one, tensor_literal({{one}, {}}, where));
  }
  std::size_t used = 0;
  for (const auto& one : indices) used += one.is_none() || one.get<PyEllipsis>() != nullptr ? 0 : 1;
  const auto rank = type_of(*tensor.object<TensorBox>()).shape.size();
  if (used > rank)
    return fail_at(errc::program_shape, where, fmt::format("{} indices of a tensor with {} axes", used, rank));
  IndexWalk walk;
  walk.result = tensor;
  walk.skipped = static_cast<std::int64_t>(rank - used);
  for (const auto& one : indices) {
    if (one.object<TensorBox>() == nullptr) {
      KW_TRY_VOID(apply_tensors(walk, where));
      KW_TRY_VOID(apply_one(walk, one, where));
    } else if (walk.used_tensors) {
      return fail_at(errc::program_unsupported, where, "index tensors that other indices stand between are not read",
                     "use torch.gather");
    } else {
      walk.tensors.push_back(one);
    }
  }
  KW_TRY_VOID(apply_tensors(walk, where));
  auto* part = walk.result.object<TensorBox>();
  auto* whole = tensor.object<TensorBox>();
  if (!walk.used_tensors && part != whole) part->view = heap_.view(*whole, index);
  return walk.result;
}

}  // namespace kw

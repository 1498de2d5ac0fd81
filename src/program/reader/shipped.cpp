// Names that are written in Python in program/library/, and copies of modules.

#include "program/reader/interpreter.hpp"

namespace kw {

Result<std::optional<PyValue>> PyInterpreter::shipped(std::string_view path) {
  const auto* name = find_shipped(path);
  if (name == nullptr) return std::optional<PyValue>();
  auto& scope = shipped_scopes_[name->file];
  const auto& file = shipped_files()[name->file];
  if (scope == nullptr) {
    scope = heap_.scope(nullptr);
    scope->is_shipped = true;
    for (const auto& statement : file.statements) KW_TRY_VOID(step(statement, *scope));
  }
  const auto found = scope->names.find(name->path.substr(file.library.size() + 1));
  return found == scope->names.end() ? std::optional<PyValue>() : found->second;
}

Result<PyValue> PyInterpreter::run_shipped(const PyClosure& closure, PyScope& scope, const std::string& shown,
                                           const SourcePlace& where) {
  const bool is_first = !shipped_call_;
  if (is_first) shipped_call_ = where;
  auto result = run_closure(closure, scope);
  if (result || !is_first) return result;
  auto error = std::move(result).error();
  error.message = fmt::format("in {}: {}", shown, error.message);
  error.where = where;
  return tl::unexpected(std::move(error));
}

Result<PyValue> PyInterpreter::copied_tensor(const TensorBox& tensor, const SourcePlace& where) {
  if (in_forward_ || !tensor.in_sources)
    return fail_at(errc::program_unsupported, where, "deepcopy() of a tensor in forward()", "use x.clone()");
  const auto& type = type_of(tensor);
  const auto distribution = distribution_of(program_.sources, tensor.value);
  PyValue copy;
  if (distribution) {
    KW_TRY(copy, make_source(type.shape, *distribution, type.dtype, where));
  } else {
    KW_TRY(copy, one_operator("clone", {{"", ValueRef{tensor.value}, where}}, where));
  }
  copy.object<TensorBox>()->is_parameter = tensor.is_parameter;
  return copy;
}

Result<PyValue> PyInterpreter::deep_copy(const PyValue& value, Copies& copies, const SourcePlace& where) {
  KW_TRY_VOID(charge(1, where));
  const auto copy_once = [&](const void* original, auto&& make) -> Result<PyValue> {
    if (const auto known = copies.find(original); known != copies.end()) return known->second;
    return make();
  };
  if (auto* tensor = value.object<TensorBox>()) {
    return copy_once(tensor, [&]() -> Result<PyValue> {
      KW_TRY(copies[tensor], copied_tensor(*tensor, where));
      return copies[tensor];
    });
  }
  if (auto* object = value.object<PyObject>()) {
    return copy_once(object, [&]() -> Result<PyValue> {
      auto* copy = heap_.object();
      *copy = *object;
      copies[object] = PyValue{copy};
      for (auto& [name, one] : copy->attributes) {
        KW_TRY(one, deep_copy(one, copies, where));
      }
      return PyValue{copy};
    });
  }
  if (auto* sequence = value.object<PySequence>()) {
    return copy_once(sequence, [&]() -> Result<PyValue> {
      auto* copy = heap_.sequence(sequence->items, sequence->tuple);
      copies[sequence] = PyValue{copy};
      for (auto& one : copy->items) {
        KW_TRY(one, deep_copy(one, copies, where));
      }
      return PyValue{copy};
    });
  }
  if (auto* dictionary = value.object<PyDictionary>()) {
    return copy_once(dictionary, [&]() -> Result<PyValue> {
      auto* copy = heap_.dictionary();
      copy->items = dictionary->items;
      copies[dictionary] = PyValue{copy};
      for (auto& [key, one] : copy->items) {
        KW_TRY(one, deep_copy(one, copies, where));
      }
      return PyValue{copy};
    });
  }
  return value;
}

}  // namespace kw

// Names that are written in Python in program/library/, and copies of modules.

#include <type_traits>

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
  if (depth_ >= k_most_depth) {
    return fail_at(errc::program_limit, where,
                   fmt::format("deepcopy() of more than {} values in one another", k_most_depth),
                   "copy a flatter value");
  }
  ++depth_;
  auto copy = copied_parts(value, copies, where);
  --depth_;
  return copy;
}

Result<PyValue> PyInterpreter::copied_parts(const PyValue& value, Copies& copies, const SourcePlace& where) {
  // What refers to itself, or is held twice, is copied once.
  const auto copy_all = [&](const void* original, PyValue made, auto&& parts) -> Result<PyValue> {
    copies[original] = made;
    for (auto* part : parts) {
      KW_TRY(*part, deep_copy(*part, copies, where));
    }
    return made;
  };
  const void* const held = std::visit(
      [](const auto& one) -> const void* {
        if constexpr (std::is_pointer_v<std::remove_cvref_t<decltype(one)>>) return one;
        return nullptr;
      },
      value.of);
  if (const auto known = copies.find(held); held != nullptr && known != copies.end()) return known->second;
  std::vector<PyValue*> parts;
  if (auto* tensor = value.object<TensorBox>()) {
    KW_TRY(const auto copy, copied_tensor(*tensor, where));
    return copy_all(tensor, copy, parts);
  }
  if (auto* object = value.object<PyObject>()) {
    auto* copy = heap_.object();
    *copy = *object;
    for (auto& [name, one] : copy->attributes) parts.push_back(&one);
    return copy_all(object, PyValue{copy}, parts);
  }
  if (auto* sequence = value.object<PySequence>()) {
    auto* copy = heap_.sequence(sequence->items, sequence->tuple);
    copy->set = sequence->set;
    for (auto& one : copy->items) parts.push_back(&one);
    return copy_all(sequence, PyValue{copy}, parts);
  }
  if (auto* dictionary = value.object<PyDictionary>()) {
    auto* copy = heap_.dictionary();
    copy->items = dictionary->items;
    for (auto& [key, one] : copy->items) parts.push_back(&one);
    return copy_all(dictionary, PyValue{copy}, parts);
  }
  return value;
}

}  // namespace kw

#include <algorithm>
#include <limits>
#include <numbers>

#include "base/closest_name.hpp"
#include "program/operators/schema.hpp"
#include "program/reader/formatting.hpp"
#include "program/reader/interpreter.hpp"

namespace kw {
namespace {

/// Methods of torch.nn.Module; found behind those of the class.
constexpr std::string_view k_module_methods[] = {"parameters",
                                                 "named_parameters",
                                                 "children",
                                                 "named_children",
                                                 "modules",
                                                 "named_modules",
                                                 "register_buffer",
                                                 "register_parameter",
                                                 "add_module",
                                                 "register_module",
                                                 "eval",
                                                 "train",
                                                 "to",
                                                 "cuda",
                                                 "cpu",
                                                 "float",
                                                 "half",
                                                 "bfloat16",
                                                 "double",
                                                 "type",
                                                 "apply",
                                                 "append",
                                                 "extend",
                                                 "insert",
                                                 "items",
                                                 "keys",
                                                 "values",
                                                 "requires_grad_",
                                                 "state_dict",
                                                 "buffers"};

/// Names are searched one by one, and that many cost a step.
constexpr std::size_t k_searched_per_step = 8;

bool is_module_method(std::string_view name) {
  return std::find(std::begin(k_module_methods), std::end(k_module_methods), name) != std::end(k_module_methods);
}

}  // namespace

tl::unexpected<Error> PyInterpreter::unknown_attribute(const PyValue& object, const std::string& name,
                                                       const SourcePlace& where) const {
  std::vector<std::string> known;
  if (const auto* held = object.object<PyObject>()) {
    for (const auto& [one, value] : held->attributes) known.push_back(one);
    if (held->type != nullptr) {
      for (const auto& [one, value] : held->type->names) known.push_back(one);
    }
  }
  const auto near = closest_name(name, known);
  if (const auto* library = object.get<PyLibraryName>())
    return unknown_call(library->path + "." + name, library->path + "." + name, where);
  return fail_at(errc::program_name, where, fmt::format("{} has no attribute '{}'", kind_text(object), name),
                 near ? fmt::format("did you mean '{}'?", *near) : std::string());
}

Result<void> PyInterpreter::check_name(const std::string& name, const SourcePlace& where) {
  if (name.find(k_unknown_text) == std::string::npos) return {};
  return fail_at(errc::program_unsupported, where, "a name is made of a value that is not known while a file is read",
                 "make it of texts and numbers");
}

Result<PyValue> PyInterpreter::attribute(const PyValue& object, const std::string& name, const SourcePlace& where) {
  KW_TRY(auto found, find_attribute(object, name, where));
  if (found) return *std::move(found);
  if (object.object<TensorBox>() != nullptr) return unknown_call("Tensor." + name, "x." + name, where);
  return unknown_attribute(object, name, where);
}

/// Of a class itself, not of an object.
Result<std::optional<PyValue>> PyInterpreter::type_attribute(const PyValue& object, const std::string& name) {
  auto* type = object.object<PyClass>();
  if (name == "__name__") return PyValue{type->name};
  if (const auto* found = find_in_class(*type, name)) {
    auto* closure = found->object<PyClosure>();
    const bool bound = closure != nullptr && closure->kind == PyClosure::Kind::class_method;
    return bound ? PyValue{heap_.method({object, closure, {}, nullptr})} : *found;
  }
  if (type->is_module && name == "__init__") return PyValue{heap_.method({object, nullptr, "unbound __init__", type})};
  return std::optional<PyValue>();
}

Result<std::optional<PyValue>> PyInterpreter::find_attribute(const PyValue& object, const std::string& name,
                                                             const SourcePlace& where) {
  if (auto* held = object.object<PyObject>()) return object_attribute(*held, name, where);
  if (auto* tensor = object.object<TensorBox>()) return tensor_attribute(*tensor, name, where);
  if (const auto* library = object.get<PyLibraryName>()) return library_attribute(*library, name);
  if (auto* method = object.object<PyBoundMethod>(); method != nullptr && method->name == "super")
    return super_attribute(*method, name, where);
  if (object.object<PyClass>() != nullptr) return type_attribute(object, name);
  if (const auto* type = object.get<ElementType>()) {
    if (name == "is_floating_point") return PyValue{is_floating(*type)};
    return std::optional<PyValue>();
  }
  if (const auto* slice = object.object<PySliceValue>()) {
    if (name == "start") return slice->first;
    if (name == "stop") return slice->last;
    if (name == "step") return slice->step;
    return std::optional<PyValue>();
  }
  if (object.object<PySequence>() != nullptr) return sequence_attribute(object, name);
  const bool holds_methods = object.object<PyDictionary>() != nullptr || object.get<std::string>() != nullptr;
  if (holds_methods) return PyValue{heap_.method({object, nullptr, name, nullptr})};
  return std::optional<PyValue>();
}

/// What max, topk and the like give is a tuple with names.
Result<std::optional<PyValue>> PyInterpreter::sequence_attribute(const PyValue& object, const std::string& name) {
  const auto& items = *object.object<PySequence>();
  const bool pair = items.tuple && items.items.size() == 2;
  if (pair && (name == "values" || name == "indices")) return items.items[name == "values" ? 0 : 1];
  return PyValue{heap_.method({object, nullptr, name, nullptr})};
}

const PyValue* PyInterpreter::find_in_class(const PyClass& type, std::string_view name) {
  const PyValue* last = nullptr;  // a name may be defined twice
  for (const auto& [one, value] : type.names) {
    if (one == name) last = &value;
  }
  if (last != nullptr) return last;
  for (const auto* base : type.bases) {
    if (const auto* found = find_in_class(*base, name)) return found;
  }
  return nullptr;
}

/// A function of a class becomes a method of `self`, a property its value.
Result<std::optional<PyValue>> PyInterpreter::class_attribute(const PyValue& self, PyClass& type,
                                                              const std::string& name, const SourcePlace& where) {
  KW_TRY_VOID(charge(static_cast<std::int64_t>(type.names.size() / k_searched_per_step), where));
  const auto* found = find_in_class(type, name);
  if (found == nullptr) return std::optional<PyValue>();
  auto* closure = found->object<PyClosure>();
  if (closure == nullptr || closure->owner == nullptr || closure->kind == PyClosure::Kind::static_method) return *found;
  if (closure->kind == PyClosure::Kind::class_method)
    return PyValue{heap_.method({PyValue{&type}, closure, {}, nullptr})};
  if (closure->kind == PyClosure::Kind::property) {
    KW_TRY(auto value, call_closure(*closure, &self, {}, name, where));
    return std::optional<PyValue>(std::move(value));
  }
  return PyValue{heap_.method({self, closure, {}, nullptr})};
}

Result<std::optional<PyValue>> PyInterpreter::object_attribute(PyObject& object, const std::string& name,
                                                               const SourcePlace& where) {
  KW_TRY_VOID(charge(static_cast<std::int64_t>(object.attributes.size() / k_searched_per_step), where));
  if (const auto* held = object.find(name)) return *held;
  if (object.type != nullptr) {
    KW_TRY(auto found, class_attribute(PyValue{&object}, *object.type, name, where));
    if (found) return found;
  }
  if (name == "__class__" && object.type != nullptr) return PyValue{object.type};
  if (!is_module(PyValue{&object})) return std::optional<PyValue>();
  if (name == "training") return PyValue{is_training(program_.mode) && !object.evaluating};
  const bool callable = is_module_method(name) || name == "__setattr__" || name == "__getattr__" ||
                        (name == "forward" && object.library != nullptr);
  if (callable) return PyValue{heap_.method({PyValue{&object}, nullptr, name, nullptr})};
  return std::optional<PyValue>();
}

Result<std::optional<PyValue>> PyInterpreter::super_attribute(const PyBoundMethod& super, const std::string& name,
                                                              const SourcePlace& where) {
  for (auto* base : super.after->bases) {
    KW_TRY(auto found, class_attribute(super.self, *base, name, where));
    if (found) return found;
  }
  // What is left is nn.Module, or the module of torch.nn that the class is based on.
  if (name == "__init__" || name == "forward" || name == "__setattr__" || is_module_method(name)) {
    return PyValue{heap_.method({super.self, nullptr, name == "__init__" ? "base __init__" : name, nullptr})};
  }
  return std::optional<PyValue>();
}

Result<std::optional<PyValue>> PyInterpreter::library_attribute(const PyLibraryName& library, const std::string& name) {
  // Where timm's layers were before.
  if (library.path.starts_with("timm.models.layers")) return library_attribute({"timm.layers"}, name);
  const auto path = library.path + "." + name;
  if (path == "torch.pi" || path == "math.pi") return PyValue{std::numbers::pi};
  if (path == "math.e" || path == "torch.e") return PyValue{std::numbers::e};
  if (path == "math.inf" || path == "torch.inf") return PyValue{std::numeric_limits<double>::infinity()};
  if (path == "math.tau") return PyValue{2.0 * std::numbers::pi};
  if (library.path == "torch") {
    if (const auto type = element_type_named(name)) return PyValue{*type};
  }
  if (library.path == "torch.nn") {
    if (const auto* row = find_module_row(name)) return PyValue{row};
  }
  KW_TRY(auto found, shipped(path));
  if (found) return found;
  return PyValue{PyLibraryName{path}};
}

Result<std::optional<PyValue>> PyInterpreter::tensor_attribute(TensorBox& tensor, const std::string& name,
                                                               const SourcePlace& where) {
  const PyValue self{&tensor};
  const auto& type = type_of(tensor);
  if (name == "shape") {
    std::vector<PyValue> items;
    for (const auto& extent : type.shape) items.push_back(PyValue{extent});
    return list(std::move(items), true);
  }
  if (name == "dtype") return PyValue{type.dtype};
  if (name == "ndim") return PyValue{Extent(static_cast<std::int64_t>(type.shape.size()))};
  if (name == "device") return PyValue{std::string("device")};
  if (name == "data" || name == "real") return self;
  if (name == "is_cuda" || name == "requires_grad" || name == "is_sparse") return PyValue{false};
  if (name == "T" || name == "mT") {
    const auto rank = type.shape.size();
    if (rank < 2 && name == "T") return self;
    if (rank < 2 || (rank > 2 && name == "T")) {
      return fail_at(errc::program_shape, where, fmt::format("'{}' of a tensor with {} axes", name, rank),
                     "use x.permute(...), or x.transpose(-2, -1)");
    }
    KW_TRY(const auto operand, argument(self, where));
    KW_TRY(auto value,
           one_operator("transpose", {{"", operand, where}, {"", Extent(-2), where}, {"", Extent(-1), where}}, where));
    return std::optional<PyValue>(std::move(value));
  }
  return PyValue{heap_.method({self, nullptr, name, nullptr})};
}

Result<void> PyInterpreter::set_attribute(const PyValue& object, const std::string& name, PyValue value,
                                          const SourcePlace& where) {
  auto* held = object.object<PyObject>();
  if (held == nullptr) {
    // How a tensor or a function is labelled changes nothing.
    if (auto* tensor = object.object<TensorBox>(); tensor != nullptr && name == "data")
      return change(*tensor, value, where);
    if (object.object<TensorBox>() != nullptr && name == "requires_grad") return {};
    if (const auto* library = object.get<PyLibraryName>(); library != nullptr && is_setting(library->path)) return {};
    return fail_at(errc::program_type, where,
                   fmt::format("{} has no attribute '{}' to assign to", kind_text(object), name));
  }
  const auto* tensor = value.object<TensorBox>();
  const bool submodule = is_module(value) || (tensor != nullptr && tensor->is_parameter);
  if (submodule && held->type != nullptr && held->type->is_module && !held->initialised) {
    return fail_at(errc::program_value, where,
                   fmt::format("'{}' is assigned before nn.Module.__init__ is called", name),
                   "write super().__init__() first");
  }
  KW_TRY_VOID(charge(static_cast<std::int64_t>(held->attributes.size() / k_searched_per_step), where));
  held->set(name, std::move(value));
  return {};
}

}  // namespace kw

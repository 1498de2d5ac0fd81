#include <algorithm>

#include "base/closest_name.hpp"
#include "base/text.hpp"
#include "program/reader/interpreter.hpp"

namespace kw {
namespace {

std::string defined_in(const PyClosure& closure) {
  if (closure.outer == nullptr || !closure.outer->is_shipped)
    return fmt::format("it is defined in line {}", closure.function->where.line);
  std::vector<std::string> names;
  for (const auto& parameter : closure.function->parameters) {
    if (parameter.name != "self") names.push_back(parameter.name);
  }
  return "its parameters are " + join(names);
}

}  // namespace

Result<PyValue> PyInterpreter::call(const PyValue& callee, PyArguments arguments, const std::string& shown,
                                    const SourcePlace& where) {
  if (const auto* library = callee.get<PyLibraryName>())
    return call_library(library->path, std::move(arguments), shown, where);
  if (const auto* closure = callee.object<PyClosure>())
    return call_closure(*closure, nullptr, std::move(arguments), shown, where);
  if (const auto* method = callee.object<PyBoundMethod>())
    return call_method(*method, std::move(arguments), shown, where);
  if (auto* object = callee.object<PyObject>()) return call_object(*object, std::move(arguments), shown, where);
  if (auto* type = callee.object<PyClass>()) return construct(*type, std::move(arguments), shown, where);
  if (const auto* row = callee.get<const ModuleRow*>()) return construct_module(**row, arguments, shown, where);
  return fail_at(errc::program_type, where, fmt::format("{} cannot be called", kind_text(callee)));
}

Result<PyValue> PyInterpreter::call_closure(const PyClosure& closure, const PyValue* self, PyArguments arguments,
                                            const std::string& shown, const SourcePlace& where) {
  if (calls_ >= k_most_calls) {
    return fail_at(errc::program_limit, where, fmt::format("more than {} calls inside of one another", k_most_calls),
                   "write the recursion as a loop");
  }
  if (closure.unread != nullptr) {
    const auto& decorator = *closure.unread;
    const auto& path = decorator.kind == PyExprKind::call ? *decorator.children[0] : decorator;
    return fail_at(errc::program_unsupported, decorator.where,
                   fmt::format("the decorator '{}' is not read", spelled(path)),
                   "leave it out, or write the function without it");
  }
  if (self != nullptr) arguments.positional.insert(arguments.positional.begin(), *self);
  auto* scope = heap_.scope(closure.outer);
  if (closure.owner != nullptr) {
    scope->names["__class__"] = PyValue{closure.owner};
    if (self != nullptr) scope->names["self"] = *self;  // what super() asks for, however the parameter is called
  }
  KW_TRY_VOID(bind_parameters(closure, std::move(arguments), *scope, shown, where));
  ++calls_;
  const auto outside = shipped_call_;
  if (!scope->is_shipped) shipped_call_.reset();
  auto result = scope->is_shipped ? run_shipped(closure, *scope, shown, where) : run_closure(closure, *scope);
  shipped_call_ = outside;
  --calls_;
  return result;
}

Result<PyValue> PyInterpreter::run_closure(const PyClosure& closure, PyScope& scope) {
  if (closure.function->value) return evaluate(*closure.function->value, scope);
  KW_TRY(auto outcome, run(closure.function->body, scope));
  return std::move(outcome.value);
}

Result<void> PyInterpreter::bind_parameters(const PyClosure& closure, PyArguments arguments, PyScope& scope,
                                            const std::string& shown, const SourcePlace& where) {
  const auto& parameters = closure.function->parameters;
  std::size_t next = 0;
  PyDictionary* rest = nullptr;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto& parameter = parameters[i];
    auto& into = scope.names[parameter.name];
    if (parameter.kind == PyParameterKind::variadic) {
      std::vector<PyValue> items(
          arguments.positional.begin() + static_cast<std::ptrdiff_t>(std::min(next, arguments.positional.size())),
          arguments.positional.end());
      next = arguments.positional.size();
      into = list(std::move(items), true);
      continue;
    }
    if (parameter.kind == PyParameterKind::keywords) {
      rest = heap_.dictionary();
      into = PyValue{rest};
      continue;
    }
    const auto named = std::find_if(arguments.keywords.begin(), arguments.keywords.end(),
                                    [&](const auto& one) { return one.first == parameter.name; });
    if (parameter.kind == PyParameterKind::plain && next < arguments.positional.size()) {
      if (named != arguments.keywords.end())
        return fail_at(errc::program_call, where, fmt::format("{} gets '{}' twice", shown, parameter.name));
      into = arguments.positional[next++];
    } else if (named != arguments.keywords.end()) {
      into = named->second;
      arguments.keywords.erase(named);
    } else if (parameter.initial) {
      into = closure.defaults[i];
    } else {
      return fail_at(errc::program_call, where, fmt::format("{} needs '{}'", shown, parameter.name),
                     defined_in(closure));
    }
  }
  if (next < arguments.positional.size()) {
    return fail_at(
        errc::program_call, where,
        fmt::format("{} gets {} positional arguments, but takes {}", shown, arguments.positional.size(), next),
        defined_in(closure));
  }
  if (rest == nullptr && !arguments.keywords.empty()) {
    std::vector<std::string> known;
    for (const auto& parameter : parameters) known.push_back(parameter.name);
    const auto near = closest_name(arguments.keywords.front().first, known);
    return fail_at(errc::program_call, where,
                   fmt::format("{} has no parameter '{}'", shown, arguments.keywords.front().first),
                   near ? fmt::format("did you mean '{}'?", *near) : defined_in(closure));
  }
  for (auto& [name, value] : arguments.keywords) rest->items.emplace_back(PyValue{name}, std::move(value));
  return {};
}

Result<PyValue> PyInterpreter::construct(PyClass& type, PyArguments arguments, const std::string& shown,
                                         const SourcePlace& where) {
  if (type.unread) return fail(*type.unread);
  auto* object = heap_.object();
  object->type = &type;
  object->library = type.library;
  const PyValue self{object};
  if (const auto* init = find_in_class(type, "__init__"); init != nullptr && init->object<PyClosure>() != nullptr) {
    KW_TRY_VOID(call_closure(*init->object<PyClosure>(), &self, std::move(arguments), shown, where));
    return self;
  }
  if (type.is_data) {
    KW_TRY_VOID(fill_fields(type, *object, std::move(arguments), where));
  } else if (type.library != nullptr) {
    KW_TRY_VOID(initialise_module(*object, *type.library, arguments, shown, where));
  } else if (!arguments.positional.empty() || !arguments.keywords.empty()) {
    return fail_at(errc::program_call, where,
                   fmt::format("{} takes no arguments: class {} has no __init__", shown, type.name));
  }
  object->initialised = true;
  return self;
}

Result<void> PyInterpreter::fill_fields(PyClass& type, PyObject& object, PyArguments arguments,
                                        const SourcePlace& where) {
  std::size_t next = 0;
  for (const auto& field : type.fields) {
    if (next < arguments.positional.size()) {
      object.set(field, arguments.positional[next++]);
    } else if (const auto* named = arguments.keyword(field)) {
      object.set(field, *named);
    } else if (const auto* initial = find_in_class(type, field)) {
      object.set(field, *initial);
    } else {
      return fail_at(errc::program_call, where, fmt::format("{} needs '{}'", type.name, field));
    }
  }
  for (const auto& [name, value] : arguments.keywords) {
    if (std::find(type.fields.begin(), type.fields.end(), name) == type.fields.end())
      return fail_at(errc::program_call, where, fmt::format("{} has no field '{}'", type.name, name));
  }
  return {};
}

Result<PyValue> PyInterpreter::call_method(const PyBoundMethod& method, PyArguments arguments, const std::string& shown,
                                           const SourcePlace& where) {
  if (method.closure != nullptr) return call_closure(*method.closure, &method.self, std::move(arguments), shown, where);
  if (method.name == "super") return fail_at(errc::program_type, where, "super() cannot be called twice");
  std::optional<PyValue> result;
  if (method.name == "unbound __init__") {  // nn.Module.__init__(self)
    if (arguments.positional.empty() || arguments.positional.front().object<PyObject>() == nullptr)
      return fail_at(errc::program_call, where, fmt::format("{} needs 'self'", shown));
    arguments.positional.front().object<PyObject>()->initialised = true;
    return PyValue{};
  }
  if (auto* object = method.self.object<PyObject>()) {
    if (method.name == "base __init__") {
      object->initialised = true;
      if (object->library != nullptr)
        KW_TRY_VOID(initialise_module(*object, *object->library, arguments, shown, where));
      return PyValue{};
    }
    if (method.name == "forward" && object->library != nullptr)
      return call_module(*object, *object->library, std::move(arguments), shown, where);
    KW_TRY(result, call_module_method(*object, method.name, arguments, where));
  } else if (auto* tensor = method.self.object<TensorBox>()) {
    KW_TRY(result, call_tensor_method(*tensor, method.name, arguments, shown, where));
    if (!result) return unknown_call("Tensor." + method.name, shown, where);
  } else if (auto* items = method.self.object<PySequence>()) {
    KW_TRY(result, call_list_method(*items, method.name, arguments, where));
  } else if (auto* dictionary = method.self.object<PyDictionary>()) {
    KW_TRY(result, call_dictionary_method(*dictionary, method.name, arguments, where));
  } else if (const auto* text = method.self.get<std::string>()) {
    KW_TRY(result, call_text_method(*text, method.name, arguments, where));
  }
  if (result) return *std::move(result);
  return fail_at(errc::program_unsupported, where,
                 fmt::format("{} has no method '{}' that is read", kind_text(method.self), method.name),
                 "leave it out of the module");
}

Result<PyValue> PyInterpreter::call_library(const std::string& path, PyArguments arguments, const std::string& shown,
                                            const SourcePlace& where) {
  KW_TRY(auto special, call_special(path, arguments, shown, where));
  if (special) return *std::move(special);
  if (const auto found = find_tensor_operator(path)) return call_found(*found, arguments, shown, where);
  if (path.find('.') == std::string::npos) {
    KW_TRY(auto result, call_builtin(path, arguments, where));
    if (result) return *std::move(result);
  }
  if (is_setting(path) && !path.starts_with("os.")) return PyValue{PyLibraryName{path}};
  for (const std::string_view library : {"math.", "numpy."}) {
    if (path.starts_with(library)) return call_math(path.substr(library.size()), arguments, where);
  }
  return unknown_call(path, shown, where);
}

tl::unexpected<Error> PyInterpreter::unknown_call(const std::string& path, const std::string& shown,
                                                  const SourcePlace& where) const {
  if (const auto* refused = find_refused_operator(path)) {
    return fail_at(errc::program_unsupported, where, fmt::format("{} is refused: {}", shown, refused->why),
                   std::string(refused->hint));
  }
  if (path.starts_with("unread:"))
    return fail_at(errc::program_name, where, fmt::format("{} comes from a library that is not read", shown),
                   "write it out in this file");
  if (path.starts_with("torch.nn.") && !path.starts_with("torch.nn.functional.")) {
    const auto name = path.substr(9);
    if (const auto instead = instead_of_module(name); !instead.empty())
      return fail_at(errc::program_unsupported, where, fmt::format("nn.{} is not read", name), std::string(instead));
    std::vector<std::string> known;
    for (const auto& row : module_rows()) known.emplace_back(row.name);
    for (const auto& one : shipped_names()) {
      if (one.path.starts_with("torch.nn.")) known.push_back(one.path.substr(9));
    }
    const auto near = closest_name(name, known);
    return fail_at(errc::program_name, where, fmt::format("nn.{} is not read", name),
                   near ? fmt::format("did you mean nn.{}?", *near) : "write it out with operators that are read");
  }
  const auto near = nearest_operator(path);
  const auto method = path.starts_with("Tensor.");
  return fail_at(errc::program_name, where, fmt::format("{} is not read", shown),
                 near ? fmt::format("did you mean {}?", method ? "x." + near->substr(7) : *near)
                      : "write it out with operators that are read");
}

}  // namespace kw

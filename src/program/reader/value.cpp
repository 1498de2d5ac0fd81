#include "program/reader/value.hpp"

#include <algorithm>
#include <cmath>

#include "program/operators/schema.hpp"
#include "program/reader/module_table.hpp"

namespace kw {
namespace {

/// Up to here every integer is a real number of 64 bits.
constexpr double k_exact_reals = 9007199254740992.0;

}  // namespace

PyValue* PyObject::find(std::string_view name) {
  const auto found =
      std::find_if(attributes.begin(), attributes.end(), [&](const auto& one) { return one.first == name; });
  return found == attributes.end() ? nullptr : &found->second;
}

void PyObject::set(const std::string& name, PyValue value) {
  if (auto* held = find(name)) {
    *held = std::move(value);
  } else {
    attributes.emplace_back(name, std::move(value));
  }
}

const PyValue* PyArguments::keyword(std::string_view name) const {
  const auto found = std::find_if(keywords.begin(), keywords.end(), [&](const auto& one) { return one.first == name; });
  return found == keywords.end() ? nullptr : &found->second;
}

std::string kind_text(const PyValue& value) {
  struct Namer {
    std::string operator()(PyNone) const { return "None"; }
    std::string operator()(bool) const { return "a boolean"; }
    std::string operator()(const Extent&) const { return "an integer"; }
    std::string operator()(double) const { return "a float"; }
    std::string operator()(const std::string&) const { return "a text"; }
    std::string operator()(PyEllipsis) const { return "'...'"; }
    std::string operator()(ElementType) const { return "a dtype"; }
    std::string operator()(TensorBox*) const { return "a tensor"; }
    std::string operator()(const PySequence* sequence) const {
      return sequence->tuple ? "a tuple" : sequence->set ? "a set" : "a list";
    }
    std::string operator()(PyDictionary*) const { return "a dictionary"; }
    std::string operator()(const PyObject* object) const {
      return "an object of class " +
             (object->type != nullptr ? object->type->name : "nn." + std::string(object->library->name));
    }
    std::string operator()(const PyClass* type) const { return "the class " + type->name; }
    std::string operator()(const PyClosure* closure) const { return "the function " + closure->function->name; }
    std::string operator()(const PyBoundMethod* method) const {
      return "the method " + (method->closure != nullptr ? method->closure->function->name : method->name);
    }
    std::string operator()(const PyLibraryName& name) const { return name.path; }
    std::string operator()(PySliceValue*) const { return "a slice"; }
    std::string operator()(const ModuleRow* row) const { return "the class nn." + std::string(row->name); }
  };
  return std::visit(Namer{}, value.of);
}

std::optional<double> number_of(const PyValue& value) {
  if (const auto* real = value.get<double>()) return *real;
  if (const auto integer = integer_of(value)) return static_cast<double>(integer->value());
  return std::nullopt;
}

std::optional<Extent> integer_of(const PyValue& value) {
  if (const auto* truth = value.get<bool>()) return Extent(*truth ? 1 : 0);
  if (const auto* integer = value.get<Extent>()) return *integer;
  return std::nullopt;
}

std::optional<PyFloor> floor_of(const PyValue& value) {
  if (auto integer = integer_of(value)) return PyFloor{*std::move(integer), true};
  if (value.floor != nullptr) return *value.floor;
  const auto* real = value.get<double>();
  if (real == nullptr || std::trunc(*real) != *real || std::fabs(*real) > k_exact_reals) return std::nullopt;
  return PyFloor{static_cast<std::int64_t>(*real), true};
}

PyValue real_of(double number, std::optional<PyFloor> floor) {
  PyValue real{number};
  const bool same =
      floor && std::fabs(number) <= k_exact_reals && std::floor(number) == static_cast<double>(floor->integer.value());
  if (same) real.floor = std::make_shared<const PyFloor>(*std::move(floor));
  return real;
}

Extent rounded(std::string_view name, const PyValue& value) {
  const double real = *value.get<double>();
  const bool as_below = name == "floor" || (real >= 0.0 && (name == "int" || name == "trunc"));
  if (value.floor != nullptr && (value.floor->whole || as_below)) return value.floor->integer;
  if (name == "floor") return static_cast<std::int64_t>(std::floor(real));
  if (name == "ceil") return static_cast<std::int64_t>(std::ceil(real));
  return static_cast<std::int64_t>(name == "round" ? std::nearbyint(real) : std::trunc(real));
}

void PyDictionary::put(PyValue key, PyValue value) {
  for (auto& [held_key, held] : items) {
    if (!equal_values(held_key, key)) continue;
    held = std::move(value);
    return;
  }
  items.emplace_back(std::move(key), std::move(value));
}

bool equal_values(const PyValue& a, const PyValue& b) {
  if (const auto left = number_of(a), right = number_of(b); left && right) return *left == *right;
  if (a.of.index() != b.of.index()) return false;
  if (const auto* text = a.get<std::string>()) return *text == *b.get<std::string>();
  if (const auto* type = a.get<ElementType>()) return *type == *b.get<ElementType>();
  if (const auto* name = a.get<PyLibraryName>()) return name->path == b.get<PyLibraryName>()->path;
  if (const auto* left = a.object<PySequence>()) {
    const auto* right = b.object<PySequence>();
    if (left->set != right->set) return false;
    if (left->set) {
      const auto& held = right->items;
      return left->items.size() == held.size() && std::ranges::all_of(left->items, [&](const auto& item) {
               return std::ranges::any_of(
                   held, [&](const auto& one) { return one.of == item.of || equal_values(one, item); });
             });
    }
    return left == right || (left->tuple == right->tuple &&
                             std::equal(left->items.begin(), left->items.end(), right->items.begin(),
                                        right->items.end(), [](const auto& one, const auto& other) {
                                          // Lists in lists are compared as objects: a list may hold itself.
                                          return one.template object<PySequence>() == nullptr ? equal_values(one, other)
                                                                                              : one.of == other.of;
                                        }));
  }
  return a.is_none() || a.of == b.of;
}

bool is_setting(std::string_view path) {
  constexpr std::string_view k_settings[] = {"unread:warnings",
                                             "unread:logging",
                                             "unread:random.seed",
                                             "unread:gc",
                                             "unread:faulthandler",
                                             "numpy.random.seed",
                                             "torch.backends",
                                             "torch._dynamo",
                                             "torch._inductor",
                                             "sys",
                                             "os"};
  return std::ranges::any_of(k_settings, [&](std::string_view one) {
    return path.starts_with(one) && (path.size() == one.size() || path[one.size()] == '.');
  });
}

std::string spelled(const PyExpr& callee) {
  if (callee.kind == PyExprKind::name) return callee.text;
  if (callee.kind == PyExprKind::attribute) {
    const auto& object = *callee.children[0];
    const bool path = object.kind == PyExprKind::name || object.kind == PyExprKind::attribute;
    return (path ? spelled(object) : "(...)") + "." + callee.text;
  }
  return "(...)";
}

}  // namespace kw

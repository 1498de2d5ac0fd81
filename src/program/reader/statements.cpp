#include <algorithm>

#include "program/operators/schema.hpp"
#include "program/reader/interpreter.hpp"

namespace kw {
namespace {

constexpr std::string_view k_libraries[] = {"torch",       "math",  "typing",     "collections", "functools",
                                            "dataclasses", "abc",   "__future__", "itertools",   "os",
                                            "sys",         "numpy", "einops",     "copy",        "timm"};
/// Decorators that say how a function is compiled or kept, not what it computes.
constexpr std::string_view k_plain_decorators[] = {
    "torch.no_grad",      "torch.inference_mode", "torch.compile", "torch.jit.export",        "torch.jit.ignore",
    "torch.jit.unused",   "torch.jit.script",     "torch.fx.wrap", "torch.jit.script_method", "abstractmethod",
    "abc.abstractmethod", "functools.wraps",      "wraps",         "register_model",          "functools.lru_cache",
    "lru_cache",          "functools.cache",      "cache"};

bool is_library(const std::string& path) {
  const auto library = path.substr(0, path.find('.'));
  return std::ranges::find(k_libraries, library) != std::end(k_libraries);
}

std::string decorator_name(const PyExpr& decorator) {
  return spelled(decorator.kind == PyExprKind::call ? *decorator.children[0] : decorator);
}

}  // namespace

Result<void> PyInterpreter::run_file(const std::vector<PyStatement>& statements) {
  for (const auto& statement : statements) {
    const bool plain = statement.kind == PyStatementKind::assign && statement.op.empty();
    if (!plain) {
      KW_TRY_VOID(step(statement, globals_));
      continue;
    }
    auto evaluated = evaluate(*statement.value, globals_);
    const bool by_name =
        std::ranges::all_of(statement.targets, [](const auto& target) { return target->kind == PyExprKind::name; });
    if (!evaluated && by_name && evaluated.error().code != errc::program_limit) {
      for (const auto& target : statement.targets) unread_globals_[target->text] = evaluated.error();
      continue;
    }
    KW_TRY(auto value, std::move(evaluated));
    for (const auto& target : statement.targets) {
      KW_TRY(auto named, with_axes(*target, value));
      KW_TRY_VOID(assign(*target, std::move(named), globals_));
    }
  }
  return {};
}

/// Constant integers that the file gives a name become axes: N = 16, H, W = 32, 32, and the items of sizes = (3, 5).
Result<PyValue> PyInterpreter::with_axes(const PyExpr& target, PyValue value) {
  const auto* items = value.object<PySequence>();
  if (target.kind == PyExprKind::name) {
    if (items == nullptr) return as_axis(target.text, std::move(value), target.where);
    std::vector<PyValue> named;
    for (std::size_t i = 0; i < items->items.size(); ++i) {
      KW_TRY(auto one, as_axis(fmt::format("{}_{}", target.text, i), items->items[i], target.where));
      named.push_back(std::move(one));
    }
    return list(std::move(named), items->tuple);
  }
  if (target.kind != PyExprKind::tuple || items == nullptr || items->items.size() != target.children.size())
    return value;
  std::vector<PyValue> named;
  for (std::size_t i = 0; i < items->items.size(); ++i) {
    const auto& child = *target.children[i];
    PyValue one = items->items[i];
    if (child.kind == PyExprKind::name) {
      KW_TRY(one, as_axis(child.text, std::move(one), child.where));
    }
    named.push_back(std::move(one));
  }
  return list(std::move(named), items->tuple);
}

Result<PyValue> PyInterpreter::as_axis(const std::string& name, PyValue value, const SourcePlace& where) {
  const auto* integer = value.get<Extent>();
  if (integer == nullptr) return value;
  const auto bound = options_.set.find(name);
  const bool is_set = bound != options_.set.end();
  if (!is_set && !integer->is_constant()) return value;  // it follows from axes
  const bool known = std::any_of(program_.axes.begin(), program_.axes.end(),
                                 [&](const ProgramAxis& axis) { return axis.name == name; });
  if (known) return value;  // a second meaning of the name cannot be the same axis
  if (program_.axes.size() >= k_most_file_axes) {
    return fail_at(errc::program_limit, where, fmt::format("more than {} integers at the top level", k_most_file_axes),
                   "give the file of the module alone");
  }
  const auto extent = is_set ? bound->second : integer->value();
  program_.axes.push_back({name, extent});
  const auto& axes = options_.axes;
  const bool is_axis = !axes || std::find(axes->begin(), axes->end(), name) != axes->end();
  return PyValue{is_axis ? Extent::axis(name, extent) : Extent(extent)};
}

Result<PyInterpreter::Outcome> PyInterpreter::run(const std::vector<PyStatement>& statements, PyScope& scope) {
  for (const auto& statement : statements) {
    KW_TRY(auto outcome, step(statement, scope));
    if (outcome.flow != Flow::next) return outcome;
  }
  return Outcome{};
}

Result<PyInterpreter::Outcome> PyInterpreter::step(const PyStatement& statement, PyScope& scope) {
  KW_TRY_VOID(charge(1, statement.where));
  if (++depth_ > k_most_depth) {
    --depth_;
    return fail_at(errc::program_limit, statement.where,
                   fmt::format("more than {} levels of calls and expressions", k_most_depth),
                   "call fewer functions inside of one another");
  }
  auto outcome = step_simple(statement, scope);
  --depth_;
  return outcome;
}

Result<PyInterpreter::Outcome> PyInterpreter::step_simple(const PyStatement& statement, PyScope& scope) {
  switch (statement.kind) {
    case PyStatementKind::expression:
      KW_TRY_VOID(evaluate(*statement.value, scope));
      break;
    case PyStatementKind::assign: {
      if (!statement.op.empty()) {
        KW_TRY_VOID(assign_augmented(statement, scope));
        break;
      }
      KW_TRY(const auto value, evaluate(*statement.value, scope));
      for (const auto& target : statement.targets) KW_TRY_VOID(assign(*target, value, scope));
      break;
    }
    case PyStatementKind::give_back: {
      if (!statement.value) return Outcome{Flow::give_back, {}};
      KW_TRY(auto value, evaluate(*statement.value, scope));
      return Outcome{Flow::give_back, std::move(value)};
    }
    case PyStatementKind::define: {
      KW_TRY(auto function, decorated(*statement.function, scope));
      scope.names[statement.function->name] = std::move(function);
      break;
    }
    case PyStatementKind::define_class:
      KW_TRY_VOID(define_class(statement, scope));
      break;
    case PyStatementKind::branch: {
      KW_TRY(const auto condition, evaluate(*statement.value, scope));
      KW_TRY(const bool holds, truth(condition, statement.value->where));
      return run(holds ? statement.body : statement.otherwise, scope);
    }
    case PyStatementKind::loop:
      return loop(statement, scope);
    case PyStatementKind::repeat:
      return repeat(statement, scope);
    case PyStatementKind::with:
      return with(statement, scope);
    case PyStatementKind::attempt:
      return attempt(statement, scope);
    case PyStatementKind::remove:
      for (const auto& target : statement.targets) KW_TRY_VOID(remove(*target, scope));
      break;
    case PyStatementKind::import:
      KW_TRY_VOID(import(statement, scope));
      break;
    case PyStatementKind::raise:
      return raised(statement, scope);
    case PyStatementKind::check:
      KW_TRY_VOID(assert_true(statement, scope));
      break;
    case PyStatementKind::leave:
      return Outcome{Flow::leave, {}};
    case PyStatementKind::go_on:
      return Outcome{Flow::go_on, {}};
    case PyStatementKind::declare:
    case PyStatementKind::pass:
      break;
  }
  return Outcome{};
}

Result<PyInterpreter::Outcome> PyInterpreter::loop(const PyStatement& statement, PyScope& scope) {
  KW_TRY(const auto iterable, evaluate(*statement.value, scope));
  KW_TRY(const auto items, items_of(iterable, statement.value->where));
  for (const auto& item : items) {
    KW_TRY_VOID(assign(*statement.targets.front(), item, scope));
    KW_TRY(auto outcome, run(statement.body, scope));
    if (outcome.flow == Flow::leave) return Outcome{};
    if (outcome.flow == Flow::give_back) return outcome;
  }
  return run(statement.otherwise, scope);
}

/// A library that is not read is taken for one that is not installed. Whatever else is tried has to succeed.
Result<PyInterpreter::Outcome> PyInterpreter::attempt(const PyStatement& statement, PyScope& scope) {
  const bool absent = std::ranges::any_of(statement.body, [](const PyStatement& one) {
    return one.kind == PyStatementKind::import &&
           std::ranges::any_of(one.paths, [](const std::string& path) { return !is_library(path); });
  });
  return run(absent ? statement.otherwise : statement.body, scope);
}

Result<PyInterpreter::Outcome> PyInterpreter::repeat(const PyStatement& statement, PyScope& scope) {
  while (true) {
    KW_TRY(const auto condition, evaluate(*statement.value, scope));
    KW_TRY(const bool holds, truth(condition, statement.value->where));
    if (!holds) return Outcome{};
    KW_TRY_VOID(charge(1, statement.where));
    KW_TRY(auto outcome, run(statement.body, scope));
    if (outcome.flow == Flow::leave) return Outcome{};
    if (outcome.flow == Flow::give_back) return outcome;
  }
}

/// Contexts that only say whether gradients are kept change nothing here.
Result<PyInterpreter::Outcome> PyInterpreter::with(const PyStatement& statement, PyScope& scope) {
  const auto& context = *statement.value;
  const auto path = context.kind == PyExprKind::call ? spelled(*context.children[0]) : std::string();
  bool changes = path != "torch.no_grad" && path != "torch.inference_mode" && path != "torch.enable_grad";
  if (path.ends_with("autocast")) {  // with enabled=False
    KW_TRY(const auto arguments, arguments_of(context, scope));
    const auto* enabled = arguments.keyword("enabled");
    changes = enabled == nullptr || enabled->get<bool>() == nullptr || *enabled->get<bool>();
  }
  if (!changes) return run(statement.body, scope);
  return fail_at(errc::program_unsupported, statement.where, "only 'with torch.no_grad()' is read",
                 "leave the 'with' out");
}

Result<void> PyInterpreter::import(const PyStatement& statement, PyScope& scope) {
  for (std::size_t i = 0; i < statement.names.size(); ++i) {
    const auto& path = statement.paths[i];
    const bool known = is_library(path) || (scope.is_shipped && path.starts_with("kernelwright"));
    // A name that is never used may come from anywhere; asking for it says that it is unknown.
    auto& into = scope.names[statement.names[i]];
    into = PyValue{PyLibraryName{known ? path : "unread:" + path}};
    const auto dot = path.rfind('.');
    if (!known || dot == std::string::npos || path.front() == '.') continue;
    KW_TRY(const auto found, library_attribute({path.substr(0, dot)}, path.substr(dot + 1)));
    if (found) into = *found;
  }
  return {};
}

Result<void> PyInterpreter::add_base(PyClass& type, const PyExpr& base, PyScope& scope) {
  KW_TRY(const auto value, evaluate(base, scope));
  if (auto* own = value.object<PyClass>()) {
    type.bases.push_back(own);
    type.is_module = type.is_module || own->is_module;
    if (type.library == nullptr) type.library = own->library;
    if (!type.unread) type.unread = own->unread;
    return {};
  }
  if (const auto* row = value.get<const ModuleRow*>()) {
    type.library = *row;
    type.is_module = true;
    return {};
  }
  if (const auto* name = value.get<PyLibraryName>()) {
    if (name->path == "torch.nn.Module") {
      type.is_module = true;
      return {};
    }
    if (name->path == "object" || name->path.starts_with("abc.") || name->path.starts_with("typing.")) return {};
  }
  Error unread{errc::program_unsupported, fmt::format("a class cannot be based on {} here", kind_text(value)),
               "use nn.Module, a module of torch.nn, or a class of the same file", base.where};
  if (value.get<PyLibraryName>() == nullptr) return fail(std::move(unread));
  type.unread = std::move(unread);
  type.is_module = true;  // perhaps
  return {};
}

Result<void> PyInterpreter::define_class(const PyStatement& statement, PyScope& scope) {
  auto* type = heap_.type();
  type->name = statement.names.front();
  for (const auto& base : statement.targets) KW_TRY_VOID(add_base(*type, *base, scope));
  for (const auto& decorator : statement.decorators) {
    const auto path = decorator_name(*decorator);
    if (path != "dataclass" && path != "dataclasses.dataclass") {
      type->unread = Error{errc::program_unsupported, fmt::format("the decorator '{}' of a class is not read", path),
                           "leave it out", decorator->where};
    } else {
      type->is_data = true;
    }
  }
  auto* inside = heap_.scope(&scope);
  for (const auto& member : statement.body) {
    KW_TRY_VOID(step(member, *inside));
    std::string name;
    if (member.kind == PyStatementKind::define) name = member.function->name;
    const bool field = member.kind == PyStatementKind::declare || member.kind == PyStatementKind::assign;
    if (field && member.targets.front()->kind == PyExprKind::name) {
      name = member.targets.front()->text;
      type->fields.push_back(name);
    }
    if (name.empty() || inside->names.find(name) == inside->names.end()) continue;
    auto& value = inside->names[name];
    if (auto* method = value.object<PyClosure>()) {
      method->owner = type;
      method->outer = &scope;  // methods do not see the names of their class
    }
    type->names.emplace_back(name, value);
  }
  scope.names[type->name] = PyValue{type};
  return {};
}

Result<PyClosure*> PyInterpreter::closure(const PyFunction& function, PyScope& scope) {
  auto* made = heap_.closure();
  made->function = &function;
  made->outer = &scope;
  for (const auto& parameter : function.parameters) {
    PyValue initial;
    if (parameter.initial) {
      KW_TRY(initial, evaluate(*parameter.initial, scope));
    }
    made->defaults.push_back(std::move(initial));
  }
  return made;
}

Result<PyValue> PyInterpreter::decorated(const PyFunction& function, PyScope& scope) {
  KW_TRY(auto* made, closure(function, scope));
  for (const auto& decorator : function.decorators) {
    const auto path = decorator_name(*decorator);
    if (path == "staticmethod") {
      made->kind = PyClosure::Kind::static_method;
    } else if (path == "classmethod") {
      made->kind = PyClosure::Kind::class_method;
    } else if (path == "property") {
      made->kind = PyClosure::Kind::property;
    } else if (std::ranges::find(k_plain_decorators, path) == std::end(k_plain_decorators)) {
      made->unread = decorator.get();
    }
  }
  return PyValue{made};
}

/// Shipped files say what is wrong; what a file says is for people who run it.
tl::unexpected<Error> PyInterpreter::raised(const PyStatement& statement, PyScope& scope) {
  const auto* text =
      statement.value && !statement.value->children.empty() ? statement.value->children.back().get() : nullptr;
  if (scope.is_shipped && text != nullptr) {
    const auto message = evaluate(*text, scope);
    if (message && message->get<std::string>() != nullptr)
      return fail_at(errc::program_value, statement.where, *message->get<std::string>());
  }
  return fail_at(errc::program_value, statement.where, "this 'raise' is reached",
                 "construct and call the module with values that it accepts");
}

Result<void> PyInterpreter::assert_true(const PyStatement& statement, PyScope& scope) {
  KW_TRY(const auto condition, evaluate(*statement.value, scope));
  KW_TRY(const bool holds, truth(condition, statement.where));
  if (holds) return {};
  std::string said;
  if (statement.message) {
    KW_TRY(const auto message, evaluate(*statement.message, scope));
    if (const auto* text = message.get<std::string>()) said = ": " + *text;
  }
  return fail_at(errc::program_value, statement.where, "this 'assert' fails" + said,
                 "construct and call the module with values that it accepts");
}

}  // namespace kw

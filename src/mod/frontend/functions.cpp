// Making and calling functions: closures, partial applications, joined masks.

#include <algorithm>
#include <memory>
#include <utility>

#include "mod/frontend/calls.hpp"
#include "mod/frontend/trace_depth.hpp"
#include "mod/frontend/tracer.hpp"

namespace kw {
namespace {

constexpr int k_max_call_depth = 50;

tl::unexpected<Error> too_many(const PyFunction& function, std::size_t given, const SourcePlace& where) {
  const auto plain = std::count_if(function.parameters.begin(), function.parameters.end(),
                                   [](const PyParameter& p) { return p.kind == PyParameterKind::plain; });
  return fail_at(
      errc::mod_type, where,
      fmt::format("{} takes {} argument{}, but gets {}", function.name, plain, plain == 1 ? "" : "s", given));
}

}  // namespace

Result<ModValue> ModTracer::closure(const PyFunction& function, const TraceScope& scope) {
  ClosureRef made{&function, &scope, nullptr, 1};
  std::map<std::string, ModValue> defaults;
  for (const auto& parameter : function.parameters) {
    if (!parameter.initial) continue;
    KW_TRY(auto value, evaluate(*parameter.initial, scope));
    made.height = std::max(made.height, height_of(value) + 1);
    defaults.emplace(parameter.name, std::move(value));
  }
  KW_TRY_VOID(check_height(made.height, function.where));
  if (!defaults.empty()) {
    made.defaults = std::make_shared<const std::map<std::string, ModValue>>(std::move(defaults));
  }
  return ModValue{std::move(made)};
}

Result<ModValue> ModTracer::call(const ModValue& callee, CallArguments arguments, const SourcePlace& where) {
  const TraceDepth level(depth_);
  KW_TRY_VOID(check_size(where));
  if (const auto* library = callee.as<LibraryRef>()) {
    return call_library(*this, library->path, std::move(arguments), where);
  }
  if (const auto* method = callee.as<MethodRef>()) return call_method(*this, *method, std::move(arguments), where);
  if (const auto* closure = callee.as<ClosureRef>()) return call_closure(*closure, std::move(arguments), where);
  if (const auto* joined = callee.as<JoinedMasksRef>()) return call_joined(*joined, arguments, where);
  const auto* partial = callee.as<PartialRef>();
  if (partial == nullptr) return fail_at(errc::mod_type, where, fmt::format("{} cannot be called", describe(callee)));
  auto all = *partial->given;
  for (auto& value : arguments.positional) all.positional.push_back(std::move(value));
  for (auto& [name, value] : arguments.keywords) {
    const auto& wanted = name;
    const auto same = std::find_if(all.keywords.begin(), all.keywords.end(),
                                   [&](const auto& given) { return given.first == wanted; });
    if (same == all.keywords.end()) {
      all.keywords.emplace_back(name, std::move(value));
    } else {
      same->second = std::move(value);
    }
  }
  return call(*partial->callee, std::move(all), where);
}

Result<ModValue> ModTracer::call_closure(const ClosureRef& closure, CallArguments arguments, const SourcePlace& where) {
  if (calls_ >= k_max_call_depth) {
    return fail_at(errc::mod_limit, where, fmt::format("more than {} calls inside one another", k_max_call_depth),
                   "recursion cannot be traced; write the steps out");
  }
  const TraceDepth nested(calls_);
  scopes_.emplace_back();
  auto& scope = scopes_.back();
  scope.parent = closure.scope;
  KW_TRY_VOID(bind(closure, std::move(arguments), scope, where));
  if (closure.function->value) return evaluate(*closure.function->value, scope);
  KW_TRY(auto outcome, run(closure.function->body, scope));
  return std::move(outcome.value);
}

/// Sorts the arguments into the function's parameters, as Python does.
Result<void> ModTracer::bind(const ClosureRef& closure, CallArguments arguments, TraceScope& scope,
                             const SourcePlace& where) {
  const auto& function = *closure.function;
  const auto given = arguments.positional.size();
  std::size_t taken = 0;
  for (const auto& parameter : function.parameters) {
    if (parameter.kind == PyParameterKind::plain && taken < given) {
      scope.names[parameter.name] = std::move(arguments.positional[taken++]);
    } else if (parameter.kind == PyParameterKind::variadic) {
      const auto rest = arguments.positional.begin() + static_cast<std::ptrdiff_t>(taken);
      KW_TRY(scope.names[parameter.name], make_tuple({rest, arguments.positional.end()}, false, where));
      taken = given;
    } else if (parameter.kind == PyParameterKind::keywords) {
      // Empty, because every keyword has to be a parameter's name: a mod gets none.
      KW_TRY(scope.names[parameter.name], make_tuple({}, false, where));
    }
  }
  if (taken < given) return too_many(function, given, where);
  for (auto& [keyword, value] : arguments.keywords) {
    const auto& wanted = keyword;
    const auto known = std::any_of(function.parameters.begin(), function.parameters.end(), [&](const PyParameter& p) {
      const bool one = p.kind == PyParameterKind::plain || p.kind == PyParameterKind::keyword_only;
      return p.name == wanted && one;
    });
    if (!known) return fail_at(errc::mod_type, where, fmt::format("{} has no parameter '{}'", function.name, keyword));
    if (scope.names.count(keyword) > 0) {
      return fail_at(errc::mod_type, where, fmt::format("{} gets '{}' twice", function.name, keyword));
    }
    scope.names[keyword] = std::move(value);
  }
  for (const auto& parameter : function.parameters) {
    if (scope.names.count(parameter.name) > 0) continue;
    if (!parameter.initial) {
      return fail_at(errc::mod_type, where, fmt::format("{} lacks its argument '{}'", function.name, parameter.name));
    }
    scope.names[parameter.name] = closure.defaults->at(parameter.name);
  }
  return {};
}

Result<ModValue> ModTracer::call_joined(const JoinedMasksRef& joined, const CallArguments& arguments,
                                        const SourcePlace& where) {
  builder_.set_place(where);
  ModValue result{NodeRef{builder_.boolean(joined.all)}};
  for (const auto& mask : *joined.masks) {
    KW_TRY(const auto next, call(mask, arguments, where));
    KW_TRY(result, binary(joined.all ? "&" : "|", result, next, where));
  }
  return result;
}

}  // namespace kw

#include "mod/frontend/nested_names.hpp"

#include <algorithm>
#include <utility>

#include "base/closest_name.hpp"
#include "python/logical_lines.hpp"
#include "python/parser.hpp"

namespace kw {
namespace {

constexpr int k_most_colons = 100;  ///< in the head of a function

/// "def f(a, b=2): pass" of a function's text: its body may hold what the parser refuses.
Result<std::vector<PyStatement>> parse_head(const PyModuleItem& item) {
  const auto lines = logical_lines(item.text, item.where.line);
  const auto head =
      std::find_if(lines.begin(), lines.end(), [](const auto& line) { return line.code().front() != '@'; });
  const auto code = head->code();
  const SourcePlace where{item.where.file, head->line, static_cast<int>(head->text.size() - code.size()) + 1};
  auto parsed = parse_python(code, where);
  // The head ends at the first colon with which it can be read.
  auto colon = code.find(':');
  for (int i = 0; i < k_most_colons && colon != std::string_view::npos; ++i) {
    parsed = parse_python(std::string(code.substr(0, colon)) + ": pass\n", where);
    if (parsed) return parsed;
    colon = code.find(':', colon + 1);
  }
  return parsed;
}

tl::unexpected<Error> refuse_call(const SourcePlace& where, std::string message) {
  return fail(Error{errc::mod_type, std::move(message), {}, where});
}

}  // namespace

Result<std::optional<ModValue>> NestedNames::find(const PyExpr& attribute) {
  KW_TRY(auto* names, inside(*attribute.children[0]));
  if (names == nullptr) return std::nullopt;
  KW_TRY(auto value, names->member(attribute.text));
  if (value) return value;
  const auto near = closest_name(attribute.text, names->names());
  return fail(Error{errc::mod_unknown_name, fmt::format("'{}' defines no '{}'", names->title(), attribute.text),
                    near ? fmt::format("'{}'?", *near) : "name a function inside of it", attribute.where});
}

Result<ModuleNames*> NestedNames::inside(const PyExpr& expr) {
  const bool is_call = expr.kind == PyExprKind::call;
  const PyExpr& callee = is_call ? *expr.children[0] : expr;
  if (callee.kind == PyExprKind::name) return enter(names_, callee, is_call ? &expr : nullptr);
  if (callee.kind != PyExprKind::attribute) return nullptr;
  KW_TRY(auto* outer, inside(*callee.children[0]));
  if (outer == nullptr) return nullptr;
  return enter(*outer, callee, is_call ? &expr : nullptr);
}

Result<ModuleNames*> NestedNames::enter(ModuleNames& outer, const PyExpr& name, const PyExpr* call) {
  KW_TRY(const auto* item, outer.definition(name.text));
  if (item == nullptr) return nullptr;
  if (item->kind == PyItemKind::type && call != nullptr) {
    return fail(Error{errc::mod_unsupported, fmt::format("a class is not made: {} is not called", name.text),
                      fmt::format("leave the arguments out, as in {}.method.inner", name.text), name.where});
  }
  KW_TRY(auto parameters, bind(*item, outer, call));
  inner_.emplace_back(file_, outer, *item, std::move(parameters));
  return &inner_.back();
}

/// Sorts the arguments into the parameters. Those that get none keep their default value or have no value.
Result<ModuleNames::Parameters> NestedNames::bind(const PyModuleItem& item, ModuleNames& outer, const PyExpr* call) {
  ModuleNames::Parameters bound;
  if (item.kind == PyItemKind::type) return bound;
  KW_TRY(auto statements, parse_head(item));
  file_.statements.push_back(std::move(statements));
  const auto& parsed = file_.statements.back();
  if (parsed.size() != 1 || parsed.front().kind != PyStatementKind::define) {
    return fail(Error{errc::mod_syntax, "this is not the head of a function", {}, item.where});
  }
  const auto& function = *parsed.front().function;
  CallArguments given;
  const TraceScope module;
  for (std::size_t i = 0; call != nullptr && i < call->names.size(); ++i) {
    const auto& argument = *call->children[i + 1];
    KW_TRY(auto value, file_.tracer.evaluate(argument, module));
    if (holds_list(value)) return refuse_call(argument.where, "the function may change a list: write a tuple");
    if (call->names[i].empty()) {
      given.positional.push_back(std::move(value));
    } else {
      given.keywords.emplace_back(call->names[i], std::move(value));
    }
  }
  std::size_t taken = 0;
  std::size_t plain = 0;
  for (const auto& parameter : function.parameters) {
    bound.emplace(parameter.name, std::nullopt);
    if (parameter.kind != PyParameterKind::plain) continue;
    ++plain;
    if (taken < given.positional.size()) bound[parameter.name] = given.positional[taken++];
  }
  if (call != nullptr && taken < given.positional.size()) {
    return refuse_call(call->where, fmt::format("{} takes {} argument{}, but gets {}", function.name, plain,
                                                plain == 1 ? "" : "s", given.positional.size()));
  }
  for (auto& [keyword, value] : given.keywords) {
    const auto found = bound.find(keyword);
    if (found == bound.end()) {
      return refuse_call(call->where, fmt::format("{} has no parameter '{}'", function.name, keyword));
    }
    if (found->second) return refuse_call(call->where, fmt::format("{} gets '{}' twice", function.name, keyword));
    found->second = std::move(value);
  }
  for (const auto& parameter : function.parameters) {
    if (bound[parameter.name] || !parameter.initial) continue;
    KW_TRY(bound[parameter.name], file_.tracer.evaluate(*parameter.initial, outer.scope()));
  }
  return bound;
}

}  // namespace kw

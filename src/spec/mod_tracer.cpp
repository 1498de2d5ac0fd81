#include "spec/mod_tracer.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "spec/closest_name.hpp"
#include "spec/mod_calls.hpp"
#include "spec/python_numbers.hpp"

namespace kw {
namespace {

constexpr int k_max_trace_depth = 400;
constexpr int k_max_call_depth = 50;
constexpr std::int64_t k_max_steps = 200'000;
constexpr std::size_t k_max_path_length = 256;

tl::unexpected<Error> error(ErrorCode code, const SourcePlace& where, std::string message, std::string hint = {}) {
  return fail(Error{code, std::move(message), std::move(hint), where});
}

/// Counts a level of the tracer's own recursion while it lives.
class Depth {
 public:
  explicit Depth(int& depth) : depth_(depth) { ++depth_; }
  ~Depth() { --depth_; }
  Depth(const Depth&) = delete;
  Depth& operator=(const Depth&) = delete;

 private:
  int& depth_;
};

LibraryRef dtype_of(ScalarType type) {
  switch (type) {
    case ScalarType::real:
      return {"torch.float32"};
    case ScalarType::integer:
      return {"torch.int32"};
    case ScalarType::boolean:
      return {"torch.bool"};
  }
  return {};
}

}  // namespace

std::string describe(const ModValue& value) {
  static constexpr const char* k_words[] = {"None",
                                            "a boolean",
                                            "an integer",
                                            "a float",
                                            "a string",
                                            "a value computed in the kernel",
                                            "a function",
                                            "a name of a library",
                                            "a method that is not called",
                                            "a tuple"};
  return k_words[value.held.index()];
}

ModTracer::ModTracer(const ModScope& scope, ModFunction& mod) : problem_(scope), builder_(mod) {
  scopes_.emplace_back();
}

Result<ClosureRef> ModTracer::run_module(const std::vector<PyStatement>& statements) {
  KW_TRY([[maybe_unused]] const auto outcome, run(statements, scopes_.front()));
  if (last_function_) return *last_function_;
  return error(errc::mod_signature, {"", 1, 1}, "there is no function here",
               "write a def, or a lambda such as 'lambda b, h, q_idx, kv_idx: q_idx >= kv_idx'");
}

Result<ModTracer::Outcome> ModTracer::run(const std::vector<PyStatement>& statements, TraceScope& scope) {
  const bool top_level = &scope == &scopes_.front();
  for (const auto& statement : statements) {
    switch (statement.kind) {
      case PyStatementKind::pass:
        break;
      case PyStatementKind::import:
        for (std::size_t i = 0; i < statement.names.size(); ++i) {
          scope.names[statement.names[i]] = ModValue{LibraryRef{statement.paths[i]}};
        }
        break;
      case PyStatementKind::define: {
        const ClosureRef closure{statement.function.get(), &scope};
        scope.names[statement.function->name] = ModValue{closure};
        if (top_level) last_function_ = closure;
        break;
      }
      case PyStatementKind::expression: {
        KW_TRY(const auto value, evaluate(*statement.value, scope));
        if (const auto* closure = value.as<ClosureRef>(); top_level && closure != nullptr) last_function_ = *closure;
        break;
      }
      case PyStatementKind::assign:
        KW_TRY_VOID(assign(statement, scope));
        break;
      case PyStatementKind::branch: {
        KW_TRY(auto outcome, branch(statement, scope));
        if (outcome.returned) return outcome;
        break;
      }
      case PyStatementKind::give_back: {
        if (top_level) return error(errc::mod_syntax, statement.where, "'return' stands outside of a function");
        Outcome outcome{true, {}};
        if (statement.value) {
          KW_TRY(outcome.value, evaluate(*statement.value, scope));
        }
        return outcome;
      }
    }
  }
  return Outcome{};
}

Result<ModTracer::Outcome> ModTracer::branch(const PyStatement& statement, TraceScope& scope) {
  const Depth level(depth_);
  KW_TRY_VOID(check_size(statement.where));
  KW_TRY(const auto condition, evaluate(*statement.value, scope));
  KW_TRY(const bool taken,
         decide(condition, statement.where, "'if'", "write torch.where(condition, value_if_true, value_if_false)"));
  return run(taken ? statement.body : statement.otherwise, scope);
}

Result<void> ModTracer::assign(const PyStatement& statement, TraceScope& scope) {
  KW_TRY(auto value, evaluate(*statement.value, scope));
  if (!statement.unpack) {
    const auto* closure = value.as<ClosureRef>();
    if (closure != nullptr && &scope == &scopes_.front()) last_function_ = *closure;
    scope.names[statement.names[0]] = std::move(value);
    return {};
  }
  const auto* tuple = value.as<TupleRef>();
  if (tuple == nullptr || tuple->items->size() != statement.names.size()) {
    return error(errc::mod_type, statement.where,
                 fmt::format("{} names cannot be taken from {}", statement.names.size(),
                             tuple == nullptr ? describe(value) : fmt::format("{} values", tuple->items->size())));
  }
  for (std::size_t i = 0; i < statement.names.size(); ++i) scope.names[statement.names[i]] = (*tuple->items)[i];
  return {};
}

Result<void> ModTracer::check_size(const SourcePlace& where) {
  constexpr std::size_t k_max_nodes = 10'000;
  if (builder_.count() > k_max_nodes) {
    return error(errc::mod_limit, where, "the mod has more than 10000 operations");
  }
  if (depth_ > k_max_trace_depth) return error(errc::mod_limit, where, "expressions and calls nest too deeply");
  if (++steps_ > k_max_steps) return error(errc::mod_limit, where, "tracing takes more than 200000 steps");
  return {};
}

bool ModTracer::is_static(ExprId node) {
  while (static_.size() < builder_.count()) {
    const auto& next = builder_.node(static_cast<ExprId>(static_.size()));
    bool fixed = next.op == ExprOp::constant || next.op == ExprOp::axis || !next.args.empty();
    for (const auto arg : next.args) fixed = fixed && static_[static_cast<std::size_t>(arg)];
    static_.push_back(fixed);
  }
  return static_[static_cast<std::size_t>(node)];
}

Result<ModValue> ModTracer::call(const ClosureRef& closure, std::vector<ModValue> arguments, const SourcePlace& where) {
  const auto& function = *closure.function;
  if (arguments.size() != function.parameters.size()) {
    return error(errc::mod_type, where,
                 fmt::format("{} takes {} argument{}, but gets {}", function.name, function.parameters.size(),
                             function.parameters.size() == 1 ? "" : "s", arguments.size()));
  }
  if (calls_ >= k_max_call_depth) {
    return error(errc::mod_limit, where, fmt::format("more than {} calls inside one another", k_max_call_depth),
                 "recursion cannot be traced; write the steps out");
  }
  const Depth nested(calls_);
  scopes_.emplace_back();
  auto& scope = scopes_.back();
  scope.parent = closure.scope;
  for (std::size_t i = 0; i < arguments.size(); ++i) scope.names[function.parameters[i]] = std::move(arguments[i]);
  if (function.value) return evaluate(*function.value, scope);
  KW_TRY(auto outcome, run(function.body, scope));
  return std::move(outcome.value);
}

Result<ModValue> ModTracer::evaluate(const PyExpr& expr, const TraceScope& scope) {
  const Depth level(depth_);
  KW_TRY_VOID(check_size(expr.where));
  return evaluate_kind(expr, scope);
}

Result<ModValue> ModTracer::evaluate_kind(const PyExpr& expr, const TraceScope& scope) {
  switch (expr.kind) {
    case PyExprKind::integer:
      return ModValue{expr.integer};
    case PyExprKind::real:
      return ModValue{expr.real};
    case PyExprKind::text:
      return ModValue{expr.text};
    case PyExprKind::boolean:
      return ModValue{expr.integer != 0};
    case PyExprKind::none:
      return ModValue{};
    case PyExprKind::name:
      return name(expr, scope);
    case PyExprKind::attribute:
      return attribute(expr, scope);
    case PyExprKind::call:
      return call_expr(expr, scope);
    case PyExprKind::subscript:
      return subscript(expr, scope);
    case PyExprKind::unary: {
      KW_TRY(const auto operand, evaluate(*expr.children[0], scope));
      return unary(expr.text, operand, expr.where);
    }
    case PyExprKind::binary: {
      KW_TRY(const auto left, evaluate(*expr.children[0], scope));
      KW_TRY(const auto right, evaluate(*expr.children[1], scope));
      return binary(expr.text, left, right, expr.where);
    }
    case PyExprKind::comparison:
      return comparison(expr, scope);
    case PyExprKind::logical:
      return logical(expr, scope);
    case PyExprKind::conditional:
      return conditional(expr, scope);
    case PyExprKind::lambda:
      return ModValue{ClosureRef{expr.function.get(), &scope}};
    case PyExprKind::tuple:
      return tuple(expr, scope);
  }
  return ModValue{};
}

Result<ModValue> ModTracer::name(const PyExpr& expr, const TraceScope& scope) {
  const auto& wanted = expr.text;
  std::vector<std::string> known;
  for (const auto* level = &scope; level != nullptr; level = level->parent) {
    if (const auto found = level->names.find(wanted); found != level->names.end()) return found->second;
  }
  if (const auto found = problem_.constants.find(wanted); found != problem_.constants.end()) {
    return std::visit([](auto number) { return ModValue{number}; }, found->second);
  }
  if (std::find(problem_.axes.begin(), problem_.axes.end(), wanted) != problem_.axes.end()) {
    builder_.set_place(expr.where);
    return ModValue{NodeRef{builder_.axis(wanted)}};
  }
  if (is_builtin_name(wanted)) return ModValue{LibraryRef{wanted}};
  for (const auto* level = &scope; level != nullptr; level = level->parent) {
    for (const auto& [other, value] : level->names) known.push_back(other);
  }
  for (const auto& [other, value] : problem_.constants) known.push_back(other);
  known.insert(known.end(), problem_.axes.begin(), problem_.axes.end());
  const auto builtins = builtin_names();
  known.insert(known.end(), builtins.begin(), builtins.end());
  const auto near = is_torch_function(wanted) ? "torch." + wanted : closest_name(wanted, known);
  return error(
      errc::mod_unknown_name, expr.where, fmt::format("nobody defined '{}'", wanted),
      near ? fmt::format("'{}'?", *near) : "give it a value under [constants], or assign it above the function");
}

Result<ModValue> ModTracer::attribute(const PyExpr& expr, const TraceScope& scope) {
  KW_TRY(auto object, evaluate(*expr.children[0], scope));
  if (const auto* library = object.as<LibraryRef>()) {
    auto path = library->path + "." + expr.text;
    if (path.size() > k_max_path_length) return error(errc::mod_limit, expr.where, "this dotted name is too long");
    if (const auto constant = library_constant(path)) return ModValue{*constant};
    return ModValue{LibraryRef{std::move(path)}};
  }
  if (const auto* node = object.as<NodeRef>()) {
    if (expr.text == "dtype") return ModValue{dtype_of(builder_.type(node->id))};
    if (expr.text == "device") return ModValue{LibraryRef{"torch.device"}};
  }
  if (object.is_node() || object.is_number()) {
    return ModValue{MethodRef{expr.text, std::make_shared<const ModValue>(std::move(object))}};
  }
  return error(errc::mod_unsupported, expr.where,
               fmt::format("'.{}' of {} is not supported", expr.text, describe(object)),
               "attributes are read from torch, math and the mod's values only");
}

Result<ModValue> ModTracer::call_expr(const PyExpr& expr, const TraceScope& scope) {
  KW_TRY(const auto callee, evaluate(*expr.children[0], scope));
  CallArguments arguments;
  for (std::size_t i = 0; i < expr.names.size(); ++i) {
    KW_TRY(auto value, evaluate(*expr.children[i + 1], scope));
    if (expr.names[i].empty()) {
      arguments.positional.push_back(std::move(value));
    } else {
      arguments.keywords.emplace_back(expr.names[i], std::move(value));
    }
  }
  builder_.set_place(expr.where);
  if (const auto* library = callee.as<LibraryRef>()) {
    return call_library(*this, library->path, std::move(arguments), expr.where);
  }
  if (const auto* method = callee.as<MethodRef>()) {
    return call_method(*this, *method, std::move(arguments), expr.where);
  }
  const auto* closure = callee.as<ClosureRef>();
  if (closure == nullptr) {
    return error(errc::mod_type, expr.where, fmt::format("{} cannot be called", describe(callee)));
  }
  if (!arguments.keywords.empty()) {
    return error(errc::mod_unsupported, expr.where, "keyword arguments to your own functions are not supported",
                 "pass the arguments in order, without names");
  }
  return call(*closure, std::move(arguments.positional), expr.where);
}

Result<bool> ModTracer::decide(const ModValue& value, const SourcePlace& where, std::string_view construct,
                               std::string_view hint) {
  if (value.is_number()) return python_truth(value);
  if (value.is_none()) return false;
  if (const auto* node = value.as<NodeRef>()) {
    if (is_static(node->id)) {
      return error(errc::mod_unsupported, where,
                   fmt::format("{} cannot depend on an axis: one mod serves every workload", construct),
                   std::string(hint));
    }
    return error(errc::mod_unsupported, where,
                 fmt::format("{} cannot depend on a value that is only known in the kernel", construct),
                 std::string(hint));
  }
  return error(errc::mod_type, where, fmt::format("{} is neither true nor false", describe(value)));
}

Result<ModValue> ModTracer::logical(const PyExpr& expr, const TraceScope& scope) {
  const bool is_and = expr.text == "and";
  const std::string hint = is_and ? "join boolean values with '&', each comparison in parentheses: (a < b) & (c < d)"
                                  : "join boolean values with '|', each comparison in parentheses: (a < b) | (c < d)";
  const auto construct = fmt::format("'{}'", expr.text);
  KW_TRY(auto left, evaluate(*expr.children[0], scope));
  KW_TRY(const bool truth, decide(left, expr.where, construct, hint));
  if (truth != is_and) return left;
  KW_TRY(auto right, evaluate(*expr.children[1], scope));
  KW_TRY([[maybe_unused]] const bool other, decide(right, expr.where, construct, hint));
  return right;
}

Result<ModValue> ModTracer::comparison(const PyExpr& expr, const TraceScope& scope) {
  KW_TRY(const auto left, evaluate(*expr.children[0], scope));
  KW_TRY(const auto right, evaluate(*expr.children[1], scope));
  if (expr.text != "is" && expr.text != "is not") return binary(expr.text, left, right, expr.where);
  if (left.is_none() || right.is_none()) {
    return ModValue{(left.is_none() == right.is_none()) == (expr.text == "is")};
  }
  return error(errc::mod_unsupported, expr.where, fmt::format("'{}' compares with None only", expr.text),
               expr.text == "is" ? "write '=='" : "write '!='");
}

Result<ModValue> ModTracer::conditional(const PyExpr& expr, const TraceScope& scope) {
  KW_TRY(const auto condition, evaluate(*expr.children[0], scope));
  KW_TRY(const bool taken,
         decide(condition, expr.where, "'if'", "write torch.where(condition, value_if_true, value_if_false)"));
  return evaluate(*expr.children[taken ? 1 : 2], scope);
}

Result<ModValue> ModTracer::tuple(const PyExpr& expr, const TraceScope& scope) {
  auto items = std::make_shared<std::vector<ModValue>>();
  for (const auto& child : expr.children) {
    KW_TRY(auto item, evaluate(*child, scope));
    if (item.as<TupleRef>() != nullptr) {
      return error(errc::mod_unsupported, child->where, "tuples inside tuples are not supported",
                   "give each value a name of its own");
    }
    items->push_back(std::move(item));
  }
  return ModValue{TupleRef{std::move(items)}};
}

Result<ModValue> ModTracer::subscript(const PyExpr& expr, const TraceScope& scope) {
  const auto& object = *expr.children[0];
  auto value = evaluate(object, scope);
  // An unknown name under a subscript is a tensor the author's module would have captured.
  if (!value && value.error().code != errc::mod_unknown_name) return value;
  if (const auto* tuple = value ? value->as<TupleRef>() : nullptr) {
    KW_TRY(const auto index, evaluate(*expr.children[1], scope));
    const auto* at = index.as<std::int64_t>();
    if (at != nullptr && *at >= 0 && static_cast<std::size_t>(*at) < tuple->items->size()) {
      return (*tuple->items)[static_cast<std::size_t>(*at)];
    }
    return error(errc::mod_type, expr.where, "a tuple is indexed with a constant inside its length");
  }
  return error(errc::mod_unsupported, expr.where,
               "subscripts are not available yet: a mod cannot read captured tensors in this version",
               "compute the value from b, h, q_idx, kv_idx, [constants] and the axes");
}

}  // namespace kw

#include "mod/frontend/tracer.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "mod/frontend/calls.hpp"
#include "mod/frontend/library_values.hpp"
#include "mod/frontend/module_path.hpp"
#include "mod/frontend/python_numbers.hpp"
#include "mod/frontend/trace_depth.hpp"

namespace kw {
namespace {

constexpr int k_max_trace_depth = 400;
constexpr std::size_t k_max_steps = 200'000;
constexpr std::size_t k_max_items = 10'000;

/// The text of "raise ValueError('...')" or of an assert's message; "" when there is none to show.
std::string spoken_text(const PyExpr* expr) {
  if (expr == nullptr) return {};
  constexpr std::size_t k_shown = 200;
  if (expr->kind == PyExprKind::text) return expr->text.substr(0, k_shown);
  if (expr->kind != PyExprKind::call || expr->children.size() < 2) return {};
  const auto& argument = *expr->children[1];
  return argument.kind == PyExprKind::text ? argument.text.substr(0, k_shown) : std::string();
}

}  // namespace

ModTracer::ModTracer(const ModScope& scope, ModFunction& mod) : problem_(scope), builder_(mod), mod_(mod) {
  scopes_.emplace_back();
}

Result<FoundFunction> ModTracer::run_module(const std::vector<PyStatement>& statements) {
  KW_TRY([[maybe_unused]] const auto outcome, run(statements, scopes_.front()));
  if (last_function_) return *last_function_;
  return fail_at(errc::mod_signature, {"", 1, 1}, "there is no function here",
                 "write a def, or a lambda such as 'lambda b, h, q_idx, kv_idx: q_idx >= kv_idx'");
}

Result<const TraceScope*> ModTracer::run_apart(const std::vector<PyStatement>& statements, const NameSource* source,
                                               const TraceHome* home) {
  scopes_.emplace_back();
  auto& scope = scopes_.back();
  scope.source = source;
  scope.home = home;
  KW_TRY([[maybe_unused]] const auto outcome, run(statements, scope));
  return &scope;
}

Result<ModTracer::Outcome> ModTracer::run(const std::vector<PyStatement>& statements, TraceScope& scope) {
  for (const auto& statement : statements) {
    KW_TRY(auto outcome, step(statement, scope));
    if (outcome.returned) return outcome;
  }
  return Outcome{};
}

Result<ModTracer::Outcome> ModTracer::step(const PyStatement& statement, TraceScope& scope) {
  switch (statement.kind) {
    case PyStatementKind::pass:
    case PyStatementKind::declare:  // from here on what only the parser's module dialect makes
    case PyStatementKind::repeat:
    case PyStatementKind::leave:
    case PyStatementKind::go_on:
    case PyStatementKind::attempt:
    case PyStatementKind::remove:
    case PyStatementKind::with:
      break;
    case PyStatementKind::import:
      for (std::size_t i = 0; i < statement.names.size(); ++i) {
        const auto* home = root_of(scope).home;
        const auto path = full_module_path(statement.paths[i], home == nullptr ? "" : home->package);
        scope.names[statement.names[i]] = ModValue{LibraryRef{path}};
      }
      break;
    case PyStatementKind::define: {
      KW_TRY(auto made, closure(*statement.function, scope));
      KW_TRY(auto function, decorate(std::move(made), *statement.function, scope));
      remember(function, statement.where, scope);
      scope.names[statement.function->name] = std::move(function);
      break;
    }
    case PyStatementKind::define_class: {
      KW_TRY(scope.names[statement.names.front()], autograd_function(statement, scope));
      break;
    }
    case PyStatementKind::expression: {
      KW_TRY(const auto value, evaluate(*statement.value, scope));
      remember(value, statement.where, scope);
      break;
    }
    case PyStatementKind::assign: {
      KW_TRY(const bool declared, assign_declared(statement, scope));
      if (declared) break;
      KW_TRY(const auto value, statement.op.empty() ? evaluate(*statement.value, scope) : augmented(statement, scope));
      for (const auto& target : statement.targets) KW_TRY_VOID(assign(*target, value, scope));
      remember(value, statement.where, scope);
      break;
    }
    case PyStatementKind::branch:
      return branch(statement, scope);
    case PyStatementKind::loop:
      return loop(statement, scope);
    case PyStatementKind::give_back:
      return give_back(statement, scope);
    case PyStatementKind::raise: {
      const auto text = spoken_text(statement.value.get());
      return fail_at(errc::mod_unsupported, statement.where,
                     text.empty() ? "this 'raise' is reached" : fmt::format("this 'raise' is reached: {}", text),
                     "call the function with values that it accepts");
    }
    case PyStatementKind::check:
      KW_TRY_VOID(check(*statement.value, statement, scope));
      break;
  }
  return Outcome{};
}

void ModTracer::remember(const ModValue& value, const SourcePlace& where, const TraceScope& scope) {
  const bool function = value.as<LibraryRef>() == nullptr && value.as<MethodRef>() == nullptr && is_callable(value);
  const bool mask = value.as<LibraryRef>() != nullptr && value.as<LibraryRef>()->path.ends_with("noop_mask");
  if (&scope == &scopes_.front() && (function || mask)) last_function_ = FoundFunction{value, where};
}

Result<ModTracer::Outcome> ModTracer::give_back(const PyStatement& statement, TraceScope& scope) {
  if (&scope == &scopes_.front()) {
    return fail_at(errc::mod_syntax, statement.where, "'return' stands outside of a function");
  }
  Outcome outcome{true, {}};
  if (statement.value) {
    KW_TRY(outcome.value, evaluate(*statement.value, scope));
  }
  return outcome;
}

Result<ModTracer::Outcome> ModTracer::branch(const PyStatement& statement, TraceScope& scope) {
  const TraceDepth level(depth_);
  KW_TRY_VOID(check_size(statement.where));
  KW_TRY(const auto condition, evaluate(*statement.value, scope));
  KW_TRY(const bool taken,
         decide(condition, statement.where, "'if'", "write torch.where(condition, value_if_true, value_if_false)"));
  return run(taken ? statement.body : statement.otherwise, scope);
}

Result<ModTracer::Outcome> ModTracer::loop(const PyStatement& statement, TraceScope& scope) {
  const TraceDepth level(depth_);
  KW_TRY(const auto iterable, evaluate(*statement.value, scope));
  KW_TRY_VOID(check_iterable(iterable, statement.value->where));
  // The loop sees what its body puts into the list, as in Python.
  const auto items = iterable.as<TupleRef>()->items;
  for (std::size_t i = 0; i < items->size(); ++i) {
    KW_TRY_VOID(check_size(statement.where));
    KW_TRY_VOID(assign(*statement.targets.front(), ModValue{(*items)[i]}, scope));
    KW_TRY(auto outcome, run(statement.body, scope));
    if (outcome.returned) return outcome;
  }
  return Outcome{};
}

/// What depends on axes is left to those who know the workloads.
Result<void> ModTracer::check(const PyExpr& condition, const PyStatement& statement, const TraceScope& scope) {
  if (condition.kind == PyExprKind::logical && condition.text == "and") {
    for (const auto& part : condition.children) KW_TRY_VOID(check(*part, statement, scope));
    return {};
  }
  KW_TRY(const auto value, evaluate(condition, scope));
  const auto text = spoken_text(statement.message.get());
  if (const auto* node = value.as<NodeRef>(); node != nullptr && is_static(node->id) && !known(node->id)) {
    return promise(node->id, text, statement.where);
  }
  KW_TRY(const bool holds, decide(value, statement.where, "'assert'", "leave the check out"));
  if (holds) return {};
  return fail_at(errc::mod_unsupported, statement.where,
                 text.empty() ? "this 'assert' does not hold" : fmt::format("this 'assert' does not hold: {}", text),
                 "call the function with values that it accepts");
}

Result<void> ModTracer::assign(const PyExpr& target, const ModValue& value, TraceScope& scope) {
  if (target.kind == PyExprKind::subscript) return assign_element(target, value, scope);
  if (target.kind == PyExprKind::attribute) {
    KW_TRY(const auto object, evaluate(*target.children[0], scope));
    if (is_autograd_context(object)) return {};  // kept for the backward pass
    return fail_at(errc::mod_unsupported, target.where, "writing to an attribute is not supported",
                   "a mod only computes a value; assign to plain names");
  }
  if (target.kind != PyExprKind::name) return unpack(target, value, scope);
  scope.names[target.text] = value;
  return {};
}

/// Takes `value` apart; a starred target takes what the others leave.
Result<void> ModTracer::unpack(const PyExpr& target, const ModValue& value, TraceScope& scope) {
  const auto& targets = target.children;
  const auto is_starred = [](const PyExprPtr& child) { return child->kind == PyExprKind::starred; };
  const auto starred = std::find_if(targets.begin(), targets.end(), is_starred);
  const auto before = static_cast<std::size_t>(starred - targets.begin());
  const bool any_starred = starred != targets.end();
  if (target.kind == PyExprKind::starred || std::count_if(targets.begin(), targets.end(), is_starred) > 1) {
    return fail_at(errc::mod_syntax, target.where, "one starred name may stand among other names");
  }
  const auto* tuple = value.as<TupleRef>();
  const std::size_t found = tuple == nullptr ? 0 : tuple->items->size();
  if (tuple == nullptr || (any_starred ? found + 1 < targets.size() : found != targets.size())) {
    return fail_at(errc::mod_type, target.where,
                   fmt::format("{} names cannot be taken from {}", targets.size(),
                               tuple == nullptr ? describe(value) : fmt::format("{} values", found)));
  }
  const auto items = *tuple->items;  // a copy: what a target's index calls may change the list
  for (std::size_t i = 0; i < before; ++i) KW_TRY_VOID(assign(*targets[i], items[i], scope));
  if (!any_starred) return {};
  const std::size_t rest = found + 1 - targets.size();
  const auto first = items.begin() + static_cast<std::ptrdiff_t>(before);
  KW_TRY(const auto middle, make_tuple({first, first + static_cast<std::ptrdiff_t>(rest)}, true, target.where));
  KW_TRY_VOID(assign(*(*starred)->children[0], middle, scope));
  for (std::size_t i = before + 1; i < targets.size(); ++i) {
    KW_TRY_VOID(assign(*targets[i], items[i + rest - 1], scope));
  }
  return {};
}

Result<void> ModTracer::check_size(const SourcePlace& where, std::size_t steps) {
  constexpr std::size_t k_max_nodes = 10'000;
  if (builder_.count() > k_max_nodes) {
    return fail_at(errc::mod_limit, where, "the mod has more than 10000 operations");
  }
  if (depth_ > k_max_trace_depth) return fail_at(errc::mod_limit, where, "expressions and calls nest too deeply");
  steps_ += steps;
  if (steps_ > k_max_steps) return fail_at(errc::mod_limit, where, "tracing takes more than 200000 steps");
  return {};
}

Result<ModValue> ModTracer::make_tuple(std::vector<ModValue> items, bool list, const SourcePlace& where) {
  if (items.size() > k_max_items) {
    return fail_at(errc::mod_limit, where, fmt::format("a tuple or a list has at most {} items", k_max_items),
                   "put large tables under [tensors] in the problem file");
  }
  KW_TRY_VOID(check_size(where, items.size()));
  int height = 1;
  for (const auto& item : items) height = std::max(height, height_of(item) + 1);
  KW_TRY_VOID(check_height(height, where));
  return ModValue{TupleRef{std::make_shared<std::vector<ModValue>>(std::move(items)), list, height}};
}

Result<void> ModTracer::check_height(int height, const SourcePlace& where) {
  if (height <= k_max_value_height) return {};
  return fail_at(errc::mod_limit, where, fmt::format("values nest more than {} deep", k_max_value_height));
}

Result<std::vector<ModValue>> ModTracer::items_of(const ModValue& value, const SourcePlace& where) {
  KW_TRY_VOID(check_iterable(value, where));
  return *value.as<TupleRef>()->items;
}

Result<void> ModTracer::check_iterable(const ModValue& value, const SourcePlace& where) {
  if (const auto* tuple = value.as<TupleRef>()) return check_size(where, tuple->items->size());
  if (value.as<TensorRef>() != nullptr) {
    return fail_at(errc::mod_unsupported, where,
                   "a loop over a captured tensor is not supported: its length may differ",
                   "loop over a range of fixed length and index the tensor");
  }
  if (value.is_node()) {
    return fail_at(errc::mod_unsupported, where, "a loop cannot run over a value that is only known in the kernel",
                   "loop over a range or a tuple whose length is known before the kernel runs");
  }
  return fail_at(errc::mod_type, where, fmt::format("{} has no items to run through", describe(value)));
}

Result<bool> ModTracer::decide(const ModValue& value, const SourcePlace& where, std::string_view construct,
                               std::string_view hint) {
  if (value.is_number()) return python_truth(value);
  if (value.is_none()) return false;
  if (const auto* tuple = value.as<TupleRef>()) return !tuple->items->empty();
  if (const auto* library = value.as<LibraryRef>(); library != nullptr && !is_known_of_library(library->path)) {
    auto unknown = unknown_of_library(library->path, where);
    if (auto advice = hint_for_import(library->path); !advice.empty()) unknown.value().hint = std::move(advice);
    return unknown;
  }
  if (is_callable(value)) return true;
  if (const auto* node = value.as<NodeRef>()) {
    if (const auto number = known(node->id)) return *number != 0.0;
    if (is_static(node->id)) {
      return fail_at(errc::mod_unsupported, where,
                     fmt::format("{} cannot depend on an axis: one mod serves every workload", construct),
                     std::string(hint));
    }
    return fail_at(errc::mod_unsupported, where,
                   fmt::format("{} cannot depend on a value that is only known in the kernel", construct),
                   std::string(hint));
  }
  if (value.as<TensorRef>() != nullptr) {
    return fail_at(errc::mod_unsupported, where, fmt::format("{} cannot depend on a captured tensor", construct),
                   "index it down to one element and choose with torch.where");
  }
  return fail_at(errc::mod_type, where, fmt::format("{} is neither true nor false", describe(value)));
}

bool ModTracer::is_static(ExprId node) {
  while (static_.size() < builder_.count()) {
    const auto& next = builder_.node(static_cast<ExprId>(static_.size()));
    bool fixed = next.op == ExprOp::constant || next.op == ExprOp::axis || !next.args.empty();
    if (next.op == ExprOp::gather) fixed = false;
    for (const auto arg : next.args) fixed = fixed && static_[static_cast<std::size_t>(arg)];
    static_.push_back(fixed);
  }
  return static_[static_cast<std::size_t>(node)];
}

}  // namespace kw

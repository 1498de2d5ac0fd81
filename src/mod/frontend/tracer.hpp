#pragma once
// Runs a mod's syntax tree on symbolic arguments, as PyTorch's tracing does: calls to helpers are inlined, loops over
// what Python knows are written out, Python numbers are computed at once, everything that depends on the score, an
// index or a captured tensor becomes a node. Statements are in tracer.cpp, calls in functions.cpp, the rest in files of
// their names.

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "mod/expression/expr_builder.hpp"
#include "mod/frontend/parser.hpp"
#include "mod/frontend/trace_scope.hpp"
#include "mod/frontend/value.hpp"
#include "python/ast.hpp"

namespace kw {

class ModTracer {
 public:
  /// Nodes are appended to `mod`. `scope` and `mod` must outlive the tracer.
  ModTracer(const ModScope& scope, ModFunction& mod);

  /// Runs the top-level statements and returns the mod: the last def, lambda, or name bound to a function.
  [[nodiscard]] Result<FoundFunction> run_module(const std::vector<PyStatement>& statements);
  /// Runs `statements`, which must outlive the trace, in a scope of their own; it lives as long as the tracer.
  /// `source` and `home`, which must outlive it as well: as in TraceScope.
  [[nodiscard]] Result<const TraceScope*> run_apart(const std::vector<PyStatement>& statements,
                                                    const NameSource* source = nullptr,
                                                    const TraceHome* home = nullptr);
  /// Asked after the scopes of functions: definitions before the problem's names, assignments after them.
  void set_names(NameSource names) { names_ = std::move(names); }
  void set_members(MemberSource members) { members_ = std::move(members); }
  void set_imports(ImportSource imports) { imports_ = std::move(imports); }
  /// Whether, in the functions that are called now, captured tensors win over locals of their names; what it was
  /// before.
  bool set_declared_wins(bool wins) { return std::exchange(declared_wins_, wins); }

  [[nodiscard]] Result<ModValue> evaluate(const PyExpr& expr, const TraceScope& scope);
  [[nodiscard]] Result<ModValue> call(const ModValue& callee, CallArguments arguments, const SourcePlace& where);

  // For the table of library functions (mod_calls.cpp).
  [[nodiscard]] ExprBuilder& builder() { return builder_; }
  /// A node for a number or a node; errc::mod_type for anything else.
  [[nodiscard]] Result<ExprId> node_of(const ModValue& value, const SourcePlace& where);
  [[nodiscard]] Result<ModValue> binary(std::string_view op, const ModValue& left, const ModValue& right,
                                        const SourcePlace& where);
  [[nodiscard]] Result<ModValue> unary(std::string_view op, const ModValue& operand, const SourcePlace& where);
  /// True when a node depends on nothing but constants and axes, so that Python code could know it.
  [[nodiscard]] bool is_static(ExprId node);
  /// The value of a node that depends on nothing but constants and axes whose extents are fixed.
  [[nodiscard]] std::optional<double> known(ExprId node);
  /// What a loop over `value` runs through; refuses what is no tuple and no list.
  [[nodiscard]] Result<std::vector<ModValue>> items_of(const ModValue& value, const SourcePlace& where);
  [[nodiscard]] Result<void> check_iterable(const ModValue& value, const SourcePlace& where);
  /// A tuple or list; errc::mod_limit when it is too long or nests too deeply.
  [[nodiscard]] Result<ModValue> make_tuple(std::vector<ModValue> items, bool list, const SourcePlace& where);
  [[nodiscard]] Result<void> check_height(int height, const SourcePlace& where);
  /// Puts `value` into a list before its item `index`; refuses what holds a list.
  [[nodiscard]] Result<void> put(const TupleRef& list, std::size_t index, ModValue value, const SourcePlace& where);
  /// Truth of a trace-time value; a traced one is refused with `hint`.
  [[nodiscard]] Result<bool> decide(const ModValue& value, const SourcePlace& where, std::string_view construct,
                                    std::string_view hint);
  /// errc::mod_limit when the mod has grown past its bounds; checked after each step.
  [[nodiscard]] Result<void> check_size(const SourcePlace& where, std::size_t steps = 1);
  /// What to do about an import that no file beside was found for; empty for what a library holds.
  [[nodiscard]] std::string hint_for_import(std::string_view path) const;

 private:
  struct Outcome {
    bool returned = false;
    ModValue value;
  };
  Result<Outcome> run(const std::vector<PyStatement>& statements, TraceScope& scope);
  Result<Outcome> step(const PyStatement& statement, TraceScope& scope);
  Result<Outcome> branch(const PyStatement& statement, TraceScope& scope);
  Result<Outcome> loop(const PyStatement& statement, TraceScope& scope);
  Result<Outcome> give_back(const PyStatement& statement, TraceScope& scope);
  Result<void> assign(const PyExpr& target, const ModValue& value, TraceScope& scope);
  Result<void> assign_element(const PyExpr& target, const ModValue& value, const TraceScope& scope);
  Result<ModValue> augmented(const PyStatement& statement, const TraceScope& scope);
  /// Binds names of captured tensors to them instead of running the statement (declared_names.cpp).
  Result<bool> assign_declared(const PyStatement& statement, TraceScope& scope);
  Result<void> unpack(const PyExpr& target, const ModValue& value, TraceScope& scope);
  Result<void> check(const PyExpr& condition, const PyStatement& statement, const TraceScope& scope);
  Result<void> promise(ExprId condition, std::string text, const SourcePlace& where);
  /// What the decorators of a def make of it (decorators.cpp).
  Result<ModValue> decorate(ModValue function, const PyFunction& definition, const TraceScope& scope);
  /// The module's last function is the mod.
  void remember(const ModValue& value, const SourcePlace& where, const TraceScope& scope);

  Result<ModValue> evaluate_kind(const PyExpr& expr, const TraceScope& scope);
  Result<ModValue> name(const PyExpr& expr, const TraceScope& scope);
  /// What was imported, for its own value.
  Result<ModValue> followed(ModValue value, const TraceScope& scope, const SourcePlace& where);
  std::optional<ModValue> problem_name(const std::string& wanted, const SourcePlace& where);
  bool is_implied_axis(const std::string& wanted) const;
  tl::unexpected<Error> unknown_name(const PyExpr& expr, const TraceScope& scope) const;
  Result<ModValue> attribute(const PyExpr& expr, const TraceScope& scope);
  Result<ModValue> tensor_attribute(const TensorRef& tensor, const PyExpr& expr);
  Result<ModValue> call_expr(const PyExpr& expr, const TraceScope& scope);
  Result<ModValue> logical(const PyExpr& expr, const TraceScope& scope);
  Result<ModValue> comparison(const PyExpr& expr, const TraceScope& scope);
  Result<ModValue> chain(const PyExpr& expr, const TraceScope& scope);
  Result<ModValue> membership(const PyExpr& expr, const ModValue& item, const ModValue& container);
  Result<bool> equals(const ModValue& left, const ModValue& right, const SourcePlace& where);
  Result<ModValue> conditional(const PyExpr& expr, const TraceScope& scope);
  Result<std::vector<ModValue>> evaluate_all(const std::vector<PyExprPtr>& expressions, const TraceScope& scope);
  Result<ModValue> comprehension(const PyExpr& expr, const TraceScope& scope);
  Result<void> comprehend(const PyExpr& expr, std::size_t clause, TraceScope& scope, std::vector<ModValue>& into);
  Result<ModValue> slice(const PyExpr& expr, const TraceScope& scope);
  Result<ModValue> subscript(const PyExpr& expr, const TraceScope& scope);
  Result<ModValue> element_of_tuple(const TupleRef& tuple, const ModValue& index, const SourcePlace& where);
  Result<ModValue> element_of_tensor(TensorRef tensor, const ModValue& index, const SourcePlace& where);
  Result<std::optional<ExprId>> tensor_index(const TensorRef& tensor, const ModValue& index, const SourcePlace& where);

  Result<ModValue> closure(const PyFunction& function, const TraceScope& scope);
  Result<ModValue> autograd_function(const PyStatement& statement, const TraceScope& scope);
  Result<ModValue> call_closure(const ClosureRef& closure, CallArguments arguments, const SourcePlace& where);
  Result<void> bind(const ClosureRef& closure, CallArguments arguments, TraceScope& scope, const SourcePlace& where);
  Result<ModValue> call_joined(const JoinedMasksRef& joined, const CallArguments& arguments, const SourcePlace& where);
  Result<ModValue> static_binary(std::string_view op, const ModValue& left, const ModValue& right,
                                 const SourcePlace& where);
  Result<ModValue> node_binary(std::string_view op, ExprId left, ExprId right, const SourcePlace& where);
  Result<ModValue> node_power(ExprId base, ExprId exponent, const SourcePlace& where);
  Result<ModValue> numeric_binary(ExprOp op, std::string_view symbol, ExprId left, ExprId right,
                                  const SourcePlace& where);

  const ModScope& problem_;
  ExprBuilder builder_;
  NameSource names_;
  MemberSource members_;
  ImportSource imports_;
  bool declared_wins_ = false;
  std::deque<TraceScope> scopes_;  // a deque never moves its elements; the first is the module's
  int depth_ = 0;
  int calls_ = 0;
  std::size_t steps_ = 0;
  ModFunction& mod_;
  std::vector<bool> static_;  // per node, extended on demand; so is known_
  std::vector<std::optional<double>> known_;
  std::set<ExprId> promised_;
  std::optional<FoundFunction> last_function_;
};

}  // namespace kw

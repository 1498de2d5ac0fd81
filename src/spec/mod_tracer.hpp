#pragma once
// Runs a mod's syntax tree on symbolic arguments, as PyTorch's tracing does: calls to helpers are inlined, Python
// numbers are computed at once, everything that depends on the score or an index becomes a node.

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "spec/expr_builder.hpp"
#include "spec/mod_parser.hpp"
#include "spec/mod_value.hpp"
#include "spec/py_ast.hpp"

namespace kw {

struct TraceScope {
  std::map<std::string, ModValue, std::less<>> names;
  const TraceScope* parent = nullptr;  ///< null for the module's scope
};

class ModTracer {
 public:
  /// Nodes are appended to `mod`. `scope` and `mod` must outlive the tracer.
  ModTracer(const ModScope& scope, ModFunction& mod);

  /// Runs the top-level statements and returns the mod: the last def, lambda, or name bound to a function.
  [[nodiscard]] Result<ClosureRef> run_module(const std::vector<PyStatement>& statements);
  [[nodiscard]] Result<ModValue> call(const ClosureRef& closure, std::vector<ModValue> arguments,
                                      const SourcePlace& where);

  // For the table of library functions (mod_calls.cpp).
  [[nodiscard]] ExprBuilder& builder() { return builder_; }
  /// A node for a number or a node; errc::mod_type for anything else.
  [[nodiscard]] Result<ExprId> node_of(const ModValue& value, const SourcePlace& where);
  [[nodiscard]] Result<ModValue> binary(std::string_view op, const ModValue& left, const ModValue& right,
                                        const SourcePlace& where);
  [[nodiscard]] Result<ModValue> unary(std::string_view op, const ModValue& operand, const SourcePlace& where);
  /// True when a node depends on nothing but constants and axes, so that Python code could know it.
  [[nodiscard]] bool is_static(ExprId node);
  /// errc::mod_limit when the mod has grown past its bounds; checked after each step.
  [[nodiscard]] Result<void> check_size(const SourcePlace& where);

 private:
  struct Outcome {
    bool returned = false;
    ModValue value;
  };
  Result<Outcome> run(const std::vector<PyStatement>& statements, TraceScope& scope);
  Result<Outcome> branch(const PyStatement& statement, TraceScope& scope);
  Result<void> assign(const PyStatement& statement, TraceScope& scope);
  Result<ModValue> evaluate(const PyExpr& expr, const TraceScope& scope);
  Result<ModValue> evaluate_kind(const PyExpr& expr, const TraceScope& scope);
  Result<ModValue> name(const PyExpr& expr, const TraceScope& scope);
  Result<ModValue> attribute(const PyExpr& expr, const TraceScope& scope);
  Result<ModValue> call_expr(const PyExpr& expr, const TraceScope& scope);
  Result<ModValue> logical(const PyExpr& expr, const TraceScope& scope);
  Result<ModValue> comparison(const PyExpr& expr, const TraceScope& scope);
  Result<ModValue> conditional(const PyExpr& expr, const TraceScope& scope);
  Result<ModValue> tuple(const PyExpr& expr, const TraceScope& scope);
  Result<ModValue> subscript(const PyExpr& expr, const TraceScope& scope);
  /// Truth of a trace-time value; a traced one is refused with `hint`.
  Result<bool> decide(const ModValue& value, const SourcePlace& where, std::string_view construct,
                      std::string_view hint);
  Result<ModValue> node_binary(std::string_view op, ExprId left, ExprId right, const SourcePlace& where);
  Result<ModValue> node_power(ExprId base, ExprId exponent, const SourcePlace& where);
  Result<ModValue> numeric_binary(ExprOp op, std::string_view symbol, ExprId left, ExprId right,
                                  const SourcePlace& where);

  const ModScope& problem_;
  ExprBuilder builder_;
  std::deque<TraceScope> scopes_;  // a deque never moves its elements; the first is the module's
  int depth_ = 0;
  int calls_ = 0;
  std::int64_t steps_ = 0;
  std::vector<bool> static_;  // per node, extended on demand
  std::optional<ClosureRef> last_function_;
};

}  // namespace kw

#include "problem/mod_assertions.hpp"

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "mod/expression/semantics.hpp"
#include "mod/expression/text.hpp"
#include "problem/errors.hpp"
#include "problem/operator.hpp"

namespace kw {
namespace {

bool assertion_holds(const ModAssertion& assertion, const Axes& axes) {
  std::vector<double> values;
  for (const auto& node : assertion.nodes) {
    const auto operand = [&](std::size_t i) { return i < node.args.size() ? values[node_index(node.args[i])] : 0.0; };
    if (node.op == ExprOp::constant) {
      values.push_back(node.type == ScalarType::real ? node.real : static_cast<double>(node.integer));
    } else if (node.op == ExprOp::axis) {
      values.push_back(static_cast<double>(axes.at(node.name)));
    } else {
      values.push_back(semantics::apply(node.op, node.type, operand(0), operand(1), operand(2)));
    }
  }
  return values.back() != 0.0;
}

Result<void> check_function(const ModFunction& function, std::string_view role, const Problem& problem,
                            const std::string& file) {
  for (const auto& assertion : function.assertions) {
    for (const auto& workload : problem.workloads) {
      if (assertion_holds(assertion, workload.axes)) continue;
      ModFunction condition;
      condition.nodes = assertion.nodes;
      const auto& at = condition.nodes.back().where;
      const auto said = assertion.text.empty() ? std::string() : fmt::format(" ({})", assertion.text);
      auto where = file.empty() || !at.file.empty() ? at : SourcePlace{file, at.line, at.column};
      if (where.file.empty()) where = {};
      return fail(
          Error{errc::problem_value,
                fmt::format("the {} asserts {}{}, which does not hold in workload '{}'", role,
                            to_python(condition, static_cast<ExprId>(condition.nodes.size() - 1)), said, workload.name),
                "change the workload, or leave the assert out if the mod is right without it", std::move(where)});
    }
  }
  return {};
}

}  // namespace

Result<void> check_assertions(const Problem& problem, const std::string& file) {
  for (const auto& capture : problem.captures) {
    const auto* formula = std::get_if<FormulaValues>(&capture.source);
    if (formula != nullptr) {
      KW_TRY_VOID(
          check_function(formula->formula, fmt::format("formula of tensor {}", capture.declared.name), problem, {}));
    }
  }
  for (const auto& [role, function] : operator_of(problem).format.functions(problem)) {
    KW_TRY_VOID(check_function(*function, role, problem, file));
  }
  return {};
}

}  // namespace kw

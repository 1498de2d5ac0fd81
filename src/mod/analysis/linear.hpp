#pragma once
// Rewrites nodes of a mod as coefficient * variable + rest, the variable being the score or the key index. Shared by
// the public analyses, which differ only in how they present the result.

#include <cstdint>
#include <optional>
#include <vector>

#include "mod/analysis/analysis.hpp"
#include "mod/analysis/ranges.hpp"
#include "mod/expression/expr_builder.hpp"

namespace kw {

/// Node ids; -1 stands for a coefficient of 0 or a rest of 0.
struct LinearForm {
  ExprId coefficient = -1;
  ExprId rest = -1;
};

class LinearForms {
 public:
  /// Both must outlive the object; the nodes a form needs are appended through `builder`.
  LinearForms(ModFunction& mod, ExprBuilder& builder, ExprOp variable);

  /// Nothing when the node is not provably linear. Integers are linear modulo 2^32.
  [[nodiscard]] std::optional<LinearForm> of(ExprId node);
  /// True when an integer form cannot leave 32 bits for any key index there is, so that it holds without the modulo.
  [[nodiscard]] bool is_exact(const LinearForm& form);

 private:
  [[nodiscard]] bool depends_on_variable(ExprId node);
  std::optional<LinearForm> form(ExprId node);
  std::optional<LinearForm> widened(const LinearForm& form);
  std::optional<LinearForm> chosen(const ModExpr& node, const std::vector<LinearForm>& args);
  LinearForm scaled(ExprOp op, const LinearForm& form, ExprId factor);
  ExprId sum(ExprId left, ExprId right);
  ExprId difference(ExprId left, ExprId right);
  ExprId number(ScalarType type, std::int64_t value);

  ModFunction& mod_;
  ExprBuilder& builder_;
  ExprOp variable_;
  std::vector<Dependencies> depends_;
  std::vector<ValueRange> ranges_;
  std::vector<bool> done_;
  std::vector<std::optional<LinearForm>> forms_;
};

/// Adds an entry for each node that `known` lacks.
void extend_dependencies(const ModFunction& mod, std::vector<Dependencies>& known);

}  // namespace kw

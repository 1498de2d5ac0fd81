#pragma once
// The stages of a kernel at which a mod's values can be computed, and values with their stage. What a value's text is
// and which are worth a name, KernelExpr decides (kernel_expr.hpp).

#include <string>

#include "mod/analysis/analysis.hpp"
#include "mod/expression/expr.hpp"

namespace kw {

/// When a value is known: once per work-group, once per query row, once per sixteen keys for all rows, or for each
/// score.
enum class ExprStage { group, row, column, element };

/// The first stage at which the inputs are known; columns are a choice, see KernelExprOptions, as is `head_by_row`.
[[nodiscard]] ExprStage stage_of(const Dependencies& inputs, bool head_by_row = false);

/// A value asked for, and the stage that uses it.
struct ExprRoot {
  ExprId id = -1;
  ExprStage used_at = ExprStage::element;
};

/// A value that one stage computes and a later one uses.
struct NamedValue {
  std::string type;
  std::string name;
  [[nodiscard]] std::string declaration() const { return "const " + type + " " + name; }
};

}  // namespace kw

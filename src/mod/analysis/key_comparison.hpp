#pragma once
// One comparison solved for the key: which interval of keys makes it true in a row. Linear sides, floor division by a
// positive number, and sorted captured tensors read at the key. Every answer holds for all indices, axes and captured
// values a problem may have, 32-bit wrap-around included; what cannot be proved is not answered.

#include <optional>
#include <vector>

#include "mod/analysis/analysis.hpp"
#include "mod/analysis/linear.hpp"
#include "mod/analysis/ranges.hpp"
#include "mod/expression/expr_builder.hpp"

namespace kw {

/// The comparison that holds where `op` does not, and the one that holds for exchanged sides.
[[nodiscard]] ExprOp opposite_comparison(ExprOp op);
[[nodiscard]] ExprOp mirrored_comparison(ExprOp op);

/// The keys in both, and in one list of conditions without repetition.
[[nodiscard]] std::optional<RowInterval> intersection(const std::optional<RowInterval>& a,
                                                      const std::optional<RowInterval>& b);

class KeyComparisons {
 public:
  /// Both must outlive the object; the nodes an answer needs are appended through `builder`.
  KeyComparisons(ModFunction& mask, ExprBuilder& builder)
      : mask_(mask), builder_(builder), forms_(mask, builder, ExprOp::key) {}

  [[nodiscard]] std::optional<RowInterval> solve(ExprOp op, ExprId left, ExprId right);
  /// left - right where that cannot leave 32 bits; terms that both have are left out.
  [[nodiscard]] std::optional<ExprId> difference(ExprId left, ExprId right);
  [[nodiscard]] ValueRange range_of(ExprId id);

 private:
  [[nodiscard]] bool depends_on_key(ExprId id);
  [[nodiscard]] std::optional<RowInterval> linear(ExprOp op, ExprId left, ExprId right);
  [[nodiscard]] std::optional<RowInterval> quotient(ExprOp op, const ModExpr& division, ExprId value);
  [[nodiscard]] std::optional<RowInterval> sorted(ExprOp op, const ModExpr& gather, ExprId value);
  [[nodiscard]] ExprId position(ExprOp bound, const ModExpr& gather, ExprId value);
  struct ExactLinear {
    double slope = 0.0;
    ExprId intercept = -1;
  };
  [[nodiscard]] std::optional<ExactLinear> exact_linear(ExprId id);
  [[nodiscard]] std::optional<ExprId> exact(ExprOp op, ExprId left, ExprId right);

  ModFunction& mask_;
  ExprBuilder& builder_;
  LinearForms forms_;
  std::vector<Dependencies> depends_;
  std::vector<ValueRange> ranges_;
};

}  // namespace kw

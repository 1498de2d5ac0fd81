#pragma once
// Appends nodes to a ModFunction: finds equal ones (hash-consing), folds constants, inserts the conversions that the
// node types of mod_expr.hpp ask for. The tracer builds mods with it, the analyses add derived nodes.

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "mod/expression/expr.hpp"

namespace kw {

class ExprBuilder {
 public:
  /// Nodes that are in `mod` already are found again; `mod` must outlive the builder.
  explicit ExprBuilder(ModFunction& mod);

  /// Where the nodes made from now on are said to stand.
  void set_place(const SourcePlace& where) { where_ = where; }

  ExprId integer(std::int64_t value);
  ExprId real(double value);
  ExprId boolean(bool value);
  ExprId leaf(ExprOp op);
  ExprId axis(const std::string& name);
  /// An element of `capture`: one integer index per dimension. The mod gets to know the capture.
  ExprId gather(const ModCapture& capture, std::vector<ExprId> indices);
  /// lower_bound or upper_bound in a row of `capture`, which is sorted: the indices of all dimensions but the last.
  ExprId bound(ExprOp op, const ModCapture& capture, std::vector<ExprId> indices, ExprId value);

  /// Operands must have the types the operation asks for; constants are folded and identities dropped.
  ExprId unary(ExprOp op, ExprId operand);
  ExprId binary(ExprOp op, ExprId left, ExprId right);
  ExprId select(ExprId condition, ExprId if_true, ExprId if_false);
  /// Does nothing when the node has that type already.
  ExprId convert(ExprId node, ScalarType type);

  [[nodiscard]] const ModExpr& node(ExprId id) const { return mod_.nodes[static_cast<std::size_t>(id)]; }
  [[nodiscard]] ScalarType type(ExprId id) const { return node(id).type; }
  [[nodiscard]] bool is_constant(ExprId id) const { return node(id).op == ExprOp::constant; }
  /// The value of a constant node of any type.
  [[nodiscard]] double constant_value(ExprId id) const;
  [[nodiscard]] std::size_t count() const { return mod_.nodes.size(); }

 private:
  ExprId constant(ScalarType type, std::int64_t integer, double real);
  ExprId folded(ScalarType type, double value);
  ExprId intern(ModExpr node);
  void know(const ModCapture& capture);
  /// An existing node that a boolean operation reduces to, or -1.
  ExprId boolean_identity(ExprOp op, ExprId left, ExprId right);
  ExprId number_identity(ExprOp op, ExprId left, ExprId right);

  ModFunction& mod_;
  SourcePlace where_;
  std::unordered_map<std::string, ExprId> known_;
};

/// The mod with only the nodes its root needs, in the order a depth-first walk meets them: mods that compute the same
/// by differently ordered statements become equal.
[[nodiscard]] ModFunction in_normal_order(const ModFunction& mod);

}  // namespace kw

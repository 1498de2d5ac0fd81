#pragma once
// A mod's expression as OpenCL C or CUDA C++. Everything is placed at the stage where its inputs are first known, so
// that what depends on the head alone is computed once per work-group and what depends on the query row once per row.
// In the innermost stage a value is either one float or, in OpenCL C, a float16 over sixteen neighbouring keys.
//
// Names in the printed text: score, b, h, q_idx, kv_idx, the axes and the captured tensors; in vectors also key, the
// first of the sixteen keys. The caller declares them. Booleans are int 0 or 1 as scalars and int16 masks of 0 or -1 as
// vectors, which is what OpenCL's own comparisons give.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "codegen/dialect.hpp"
#include "codegen/expr_stage.hpp"
#include "codegen/kernel_helpers.hpp"
#include "mod/analysis/analysis.hpp"
#include "mod/analysis/ranges.hpp"
#include "mod/expression/expr.hpp"

namespace kw {

struct KernelExprOptions {
  bool vector = false;       ///< column and element stage work on sixteen keys at a time; OpenCL C alone
  std::string prefix = "t";  ///< of the names it makes up; two printers in one function need different ones
  bool fast_tanh = false;    ///< tanh by our rational approximation instead of the built-in; where values are staged
  bool columns = false;      ///< use the column stage where a value depends on the key alone and is worth keeping
  Dialect dialect = opencl_dialect();
  bool staged = false;       ///< single values, but each at its stage; vectors always are
  bool head_by_row = false;  ///< rows of a group are of several heads: `h` is first known with the row
  [[nodiscard]] bool has_stages() const { return vector || staged; }
};

/// A buffer that printed text reads.
struct CaptureParameter {
  DType dtype = DType::f32;
  Dialect dialect = opencl_dialect();
  [[nodiscard]] std::string declaration(const std::string& name) const;
};
/// By name, so that their order does not depend on the text.
using CaptureParameters = std::map<std::string, CaptureParameter>;

/// "float16" and the like.
[[nodiscard]] const char* kernel_type(ScalarType type, bool vector);
/// A power that is printed as a product.
[[nodiscard]] bool is_square(const ModFunction& mod, const ModExpr& node);

class KernelExpr {
 public:
  /// Prints what `roots` need. Nodes of `mod` are only read.
  KernelExpr(const ModFunction& mod, const std::vector<ExprRoot>& roots, KernelExprOptions options);

  /// A root's text, fit to be an operand.
  [[nodiscard]] const std::string& text(ExprId id) const { return texts_.at(id); }
  /// Where a node's value is computed.
  [[nodiscard]] ExprStage stage(ExprId id) const { return stages_[static_cast<std::size_t>(id)]; }
  /// Definitions to place before the roots' uses: `const float t1 = ...;`, in order.
  [[nodiscard]] const std::vector<std::string>& statements(ExprStage stage) const;
  /// Constants of the group stage that rows and elements use, for handing to a function that holds those.
  [[nodiscard]] const std::vector<NamedValue>& group_values() const { return group_values_; }
  /// Values of the column stage that elements use. Their text is the name: elements must load it first.
  [[nodiscard]] const std::vector<NamedValue>& column_values() const { return column_values_; }
  [[nodiscard]] const std::set<KernelHelper>& helpers() const { return helpers_; }
  /// Axes and captured tensors the text refers to.
  [[nodiscard]] const std::set<std::string>& axes() const { return axes_; }
  [[nodiscard]] const CaptureParameters& captures() const { return captures_; }
  /// Batch, head and axes that rows and elements refer to, and that a function holding those must be handed; and the
  /// captured tensors that they read.
  [[nodiscard]] const std::set<std::string>& inner_names() const { return inner_names_; }
  [[nodiscard]] const CaptureParameters& inner_captures() const { return inner_captures_; }

 private:
  struct NodeUse {
    int count = 0;
    bool crosses = false;    ///< wanted by a later stage than its own
    bool inner = false;      ///< wanted by rows or elements
    bool by_column = false;  ///< wanted by a value of the column stage
    bool root = false;       ///< stands alone where it is used
    int depth = 0;           ///< of inlined text
  };
  void choose_columns(const std::vector<Dependencies>& inputs);
  void mark(const std::vector<ExprRoot>& roots);
  void use(ExprId id, ExprStage at);
  void print(ExprId id);
  void name(ExprId id, const std::string& expression);
  [[nodiscard]] const ModExpr& node_at(ExprId id) const { return mod_.nodes[static_cast<std::size_t>(id)]; }
  [[nodiscard]] bool is_vector(ExprId id) const;
  [[nodiscard]] std::string expression(ExprId id);
  [[nodiscard]] std::string leaf(ExprId id);
  [[nodiscard]] std::string axis_text(const std::string& axis, bool inner);
  [[nodiscard]] std::string widened(ExprId id, bool to_vector) const;
  [[nodiscard]] std::string infix(const ModExpr& node, bool vector, const char* symbol) const;
  [[nodiscard]] std::string call(const ModExpr& node, bool vector, const char* function) const;
  [[nodiscard]] std::string real_call(const ModExpr& node, bool vector) const;
  [[nodiscard]] std::string helper_call(const ModExpr& node, bool vector, KernelHelper scalar, KernelHelper wide);
  [[nodiscard]] std::string division(const ModExpr& node, bool vector) const;
  [[nodiscard]] std::string arithmetic(const ModExpr& node, bool vector);
  [[nodiscard]] std::string bits(const ModExpr& node, bool vector);
  [[nodiscard]] std::string shift(const ModExpr& node, bool vector);
  [[nodiscard]] std::string comparison(const ModExpr& node, bool vector) const;
  [[nodiscard]] std::string choice(const ModExpr& node, bool vector) const;
  [[nodiscard]] std::string function(const ModExpr& node, bool vector);
  [[nodiscard]] std::string conversion(const ModExpr& node, bool vector) const;
  [[nodiscard]] std::string power(const ModExpr& node, bool vector) const;

  // Captured tensors: kernel_captures.cpp.
  /// A line of sixteen neighbouring elements: index = first + direction * lane.
  struct Neighbours {
    std::string first;
    int direction = 1;
  };
  [[nodiscard]] std::string gather(ExprId id);
  [[nodiscard]] std::string row_position(ExprId id);
  [[nodiscard]] std::string part_start(ExprId id, std::size_t dimensions);
  [[nodiscard]] std::string flat_index(ExprId id, std::size_t first, std::size_t end);
  [[nodiscard]] std::string resolved(ExprId index, const std::string& axis, bool inner);
  [[nodiscard]] std::optional<Neighbours> neighbours(ExprId index) const;
  [[nodiscard]] bool not_negative(ExprId index);
  [[nodiscard]] bool below(ExprId index, const std::string& axis) const;
  const ModCapture& take_capture(ExprId id);
  [[nodiscard]] std::string helper_for(KernelHelper first, DType dtype);

  const ModFunction& mod_;
  KernelExprOptions options_;
  std::vector<Dependencies> inputs_;
  std::vector<ExprStage> stages_;
  std::vector<NodeUse> uses_;
  std::vector<ValueRange> ranges_;  ///< filled when the first index asks
  std::map<ExprId, std::string> texts_;
  std::map<ExprStage, std::vector<std::string>> statements_;
  std::vector<NamedValue> group_values_;
  std::vector<NamedValue> column_values_;
  std::set<KernelHelper> helpers_;
  std::set<std::string> axes_;
  std::set<std::string> inner_names_;
  CaptureParameters captures_;
  CaptureParameters inner_captures_;
  int names_ = 0;
};

}  // namespace kw

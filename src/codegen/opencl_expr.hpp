#pragma once
// A mod's expression as OpenCL C. Everything is placed at the stage where its inputs are first known, so that what
// depends on the head alone is computed once per work-group and what depends on the query row once per row. In the
// innermost stage a value is either one float or a float16 over sixteen neighbouring keys.
//
// Names in the printed text: score, b, h, q_idx, kv_idx and the axes; the caller declares them. Booleans are int 0 or 1
// as scalars and int16 masks of 0 or -1 as vectors, which is what OpenCL's own comparisons give.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "spec/mod_analysis.hpp"
#include "spec/mod_expr.hpp"

namespace kw {

/// When a value is known: once per work-group, once per query row, or for each score.
enum class ExprStage { group, row, element };

[[nodiscard]] ExprStage stage_of(const Dependencies& inputs);

/// Functions the printed text calls and the kernel must therefore define; see opencl_helper_source.
enum class OpenClHelper {
  floor_div,
  floor_mod,
  real_mod,
  real_floor_div,
  shift_left,
  shift_right,
  floor_div16,
  floor_mod16,
  real_mod16,
  real_floor_div16,
  shift_left16,
  shift_right16,
  tanh16,
};

struct OpenClExprOptions {
  bool vector = false;       ///< element stage works on sixteen keys at a time
  std::string prefix = "t";  ///< of the names it makes up; two printers in one function need different ones
  bool fast_tanh = false;    ///< tanh of vectors by our rational approximation instead of the built-in
};

/// A value asked for, and the stage that uses it.
struct ExprRoot {
  ExprId id = -1;
  ExprStage used_at = ExprStage::element;
};

class OpenClExpr {
 public:
  /// Prints what `roots` need. Nodes of `mod` are only read.
  OpenClExpr(const ModFunction& mod, const std::vector<ExprRoot>& roots, OpenClExprOptions options);

  /// A root's text, fit to be an operand.
  [[nodiscard]] const std::string& text(ExprId id) const { return texts_.at(id); }
  /// Definitions to place before the roots' uses: `const float t1 = ...;`, in order.
  [[nodiscard]] const std::vector<std::string>& statements(ExprStage stage) const;
  /// Constants defined in the group stage, as "const float t1", for handing to a function; and their bare names.
  [[nodiscard]] const std::vector<std::string>& group_parameters() const { return group_parameters_; }
  [[nodiscard]] const std::vector<std::string>& group_names() const { return group_names_; }
  [[nodiscard]] const std::set<OpenClHelper>& helpers() const { return helpers_; }
  /// Axes the text refers to.
  [[nodiscard]] const std::set<std::string>& axes() const { return axes_; }
  /// Batch, head and axes that stages after the group refer to, and that a function holding those must be handed.
  [[nodiscard]] const std::set<std::string>& inner_names() const { return inner_names_; }

 private:
  void mark(const std::vector<ExprRoot>& roots);
  void print(ExprId id);
  void name(ExprId id, const std::string& expression);
  [[nodiscard]] bool is_vector(ExprId id) const;
  [[nodiscard]] std::string expression(ExprId id);
  [[nodiscard]] std::string leaf(ExprId id);
  [[nodiscard]] std::string widened(ExprId id, bool to_vector) const;
  [[nodiscard]] std::string infix(const ModExpr& node, bool vector, const char* symbol) const;
  [[nodiscard]] std::string call(const ModExpr& node, bool vector, const char* function) const;
  [[nodiscard]] std::string helper_call(const ModExpr& node, bool vector, OpenClHelper scalar, OpenClHelper wide);
  [[nodiscard]] std::string arithmetic(const ModExpr& node, bool vector);
  [[nodiscard]] std::string bits(const ModExpr& node, bool vector);
  [[nodiscard]] std::string shift(const ModExpr& node, bool vector);
  [[nodiscard]] std::string comparison(const ModExpr& node, bool vector) const;
  [[nodiscard]] std::string choice(const ModExpr& node, bool vector) const;
  [[nodiscard]] std::string function(const ModExpr& node, bool vector);
  [[nodiscard]] std::string conversion(const ModExpr& node, bool vector) const;
  [[nodiscard]] std::string power(const ModExpr& node, bool vector) const;

  const ModFunction& mod_;
  OpenClExprOptions options_;
  std::vector<ExprStage> stages_;
  std::vector<int> uses_;
  std::vector<bool> crosses_stage_;  ///< wanted by a later stage than its own
  std::vector<int> depth_;           ///< of inlined text
  std::map<ExprId, std::string> texts_;
  std::map<ExprStage, std::vector<std::string>> statements_;
  std::vector<std::string> group_parameters_;
  std::vector<std::string> group_names_;
  std::set<OpenClHelper> helpers_;
  std::set<std::string> axes_;
  std::set<std::string> inner_names_;
  int names_ = 0;
};

/// Definitions of the helpers, in a fixed order.
[[nodiscard]] std::string opencl_helper_source(std::set<OpenClHelper> helpers);

}  // namespace kw

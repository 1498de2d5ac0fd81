#pragma once
// What the attention styles have in common: the comment a source opens with, how a mod becomes a function, and which
// names a mod's text needs as parameters.

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "codegen/kernel_expr.hpp"
#include "operators/attention/attention.hpp"
#include "problem/problem.hpp"
#include "record/bundle.hpp"

namespace kw {

/// The problem's attention part; codegen.unsupported with the reason when a style that computes in f32 and stores f32,
/// f16 or bf16 cannot take it.
[[nodiscard]] Result<const AttentionSpec*> float_attention(const Problem& problem, std::string_view style);

/// Name, generator and mods of the problem, and `notes` on how the kernel works, as `//` comment lines.
[[nodiscard]] std::string source_comment(const Problem& problem, const std::string& generator,
                                         const std::vector<std::string>& notes);

/// The factor between dot products and scores as a C expression of HEAD_DIM.
[[nodiscard]] std::string scale_text(const AttentionSpec& attention);

/// The value of a structural choice, the default where `structure` has none.
[[nodiscard]] std::int64_t choice_of(const std::vector<Tunable>& choices, const IntBindings& structure,
                                     std::string_view name);
/// codegen.unsupported for choices and values the style does not have.
[[nodiscard]] Result<void> check_choices(std::string_view style, const std::vector<Tunable>& choices,
                                         const IntBindings& structure);

/// What printed text needs from the kernel around it, besides the indices.
struct OuterNames {
  std::set<std::string> axes;  ///< all but D and Dv, which are definitions
  CaptureParameters captures;
  void include(const KernelExpr& printed);
  void include(const OuterNames& other);
  /// "__global const int* restrict doc", then "const int Hq" and so on; and the same as a call passes them.
  [[nodiscard]] std::vector<std::string> parameters() const;
  [[nodiscard]] std::vector<std::string> arguments() const;
};

/// A name for a scratch buffer: `wanted`, with underscores behind it if an axis or a tensor of the problem has it.
[[nodiscard]] std::string free_buffer_name(const Problem& problem, const std::string& wanted);

/// A kernel's arguments, which the bundle's header names and its source declares.
class KernelParameters {
 public:
  explicit KernelParameters(Dialect dialect = opencl_dialect()) : dialect_(dialect) {}
  /// `declaration` ends with the name; `argument` is what the bundle passes: a tensor, scratch or an expression.
  void add(const std::string& declaration, const std::string& argument);
  /// `buffer` is its name in the bundle, where that is another one than in the source.
  void add_tensor(DType dtype, bool writable, const std::string& name, const std::string& buffer = "");
  void add_axis(const std::string& axis);
  void add_captures(const CaptureParameters& captures);
  /// Those that are not there yet.
  void add_axes(const std::set<std::string>& axes);
  /// "void name(...)"
  [[nodiscard]] std::string signature(const std::string& kernel) const;
  [[nodiscard]] const std::vector<std::string>& arguments() const { return arguments_; }

 private:
  Dialect dialect_;
  std::vector<std::string> declarations_;
  std::vector<std::string> arguments_;
};

/// A function `name` computing one node of a mod for single indices. Parameters: score if `takes_score`, b, h, q_idx,
/// kv_idx if `takes_key`, then what its text needs besides.
struct ModFunctionText {
  std::string definition;
  OuterNames names;
  std::set<KernelHelper> helpers;
};
struct ModFunctionShape {
  std::string name;
  std::string result;  ///< C type
  bool takes_score = false;
  bool takes_key = true;
  Dialect dialect = opencl_dialect();
};
[[nodiscard]] ModFunctionText mod_function(const ModFunction& mod, ExprId node, const ModFunctionShape& shape);

/// A whole mod as a function, for kernels that call it on every score.
struct PrintedMod {
  std::string definition;
  std::string call;  ///< on score, b, h, q_idx and kv_idx; empty when the problem has no such mod
};
/// What the mod needs is added to `names` and `helpers`.
[[nodiscard]] PrintedMod printed_mod(const std::optional<ModFunction>& mod, const ModFunctionShape& shape,
                                     OuterNames& names, std::set<KernelHelper>& helpers);

}  // namespace kw

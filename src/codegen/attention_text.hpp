#pragma once
// What the attention styles have in common: the comment a source opens with, how a mod becomes a function, and which
// names a mod's text needs as parameters.

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "codegen/opencl_expr.hpp"
#include "record/bundle.hpp"
#include "spec/problem.hpp"

namespace kw {

/// The problem's attention part; codegen.unsupported with the reason when a style for f32 attention cannot take it.
[[nodiscard]] Result<const AttentionSpec*> f32_attention(const Problem& problem, std::string_view style);

/// Name, generator and mods of the problem, and `notes` on how the kernel works, as `//` comment lines.
[[nodiscard]] std::string source_comment(const Problem& problem, const std::string& generator,
                                         const std::vector<std::string>& notes);

/// The factor between dot products and scores as a C expression of HEAD_DIM.
[[nodiscard]] std::string scale_text(const AttentionSpec& attention);

/// Axes that printed text needs as int parameters; D and Dv are definitions and are left out.
[[nodiscard]] std::vector<std::string> axis_parameters(const std::set<std::string>& axes);
/// "const int Hq" and so on.
[[nodiscard]] std::vector<std::string> as_int_parameters(const std::vector<std::string>& names);

/// A function `name` computing one node of a mod for single indices. Parameters: score if `takes_score`, b, h, q_idx,
/// kv_idx if `takes_key`, then the axes it uses.
struct ModFunctionText {
  std::string definition;
  std::vector<std::string> axes;  ///< trailing arguments of a call
  std::set<OpenClHelper> helpers;
};
struct ModFunctionShape {
  std::string name;
  std::string result;  ///< C type
  bool takes_score = false;
  bool takes_key = true;
};
[[nodiscard]] ModFunctionText mod_function(const ModFunction& mod, ExprId node, const ModFunctionShape& shape);

}  // namespace kw

#pragma once
// How the vector style turns dot products into scores: scale, score_mod and mask for sixteen neighbouring keys of one
// query row, in units of log2 so that the softmax is an exp2. Decides what is folded, what is hoisted and what is
// bounded instead of masked.

#include <set>
#include <string>
#include <vector>

#include "codegen/opencl_expr.hpp"
#include "spec/problem.hpp"

namespace kw {

struct ScoreOptions {
  bool row_bounds = true;  ///< turn a mask that is an interval of keys per row into loop bounds
  bool fast_tanh = true;
};

/// Statements by place, and what they need. Inside the score loop `key` is the first of sixteen key indices, `kv_idx`
/// all of them, `scores[c]` the dot products; the statements end by defining `float16 s`.
struct ScoreText {
  std::vector<std::string> group;       ///< once per work-group
  std::vector<std::string> row;         ///< once per query row and KV block
  std::vector<std::string> element;     ///< for every sixteen scores
  std::string allowed;                  ///< int16 mask of the keys this row may attend to
  std::vector<std::string> parameters;  ///< what group and the kernel hand to the function, as declarations
  std::vector<std::string> arguments;   ///< the same, as a call names them
  std::string bound_functions;          ///< first_allowed and last_allowed; empty without row bounds
  std::vector<std::string> bound_axes;  ///< trailing arguments of both
  bool always_masked = false;           ///< `allowed` must be applied to every score, not only at the interval's ends
  bool uses_batch_axis = false;
  std::set<OpenClHelper> helpers;
  std::vector<std::string> notes;  ///< decisions worth telling the reader of the source
};

[[nodiscard]] ScoreText score_text(const AttentionSpec& attention, const ScoreOptions& options);

}  // namespace kw

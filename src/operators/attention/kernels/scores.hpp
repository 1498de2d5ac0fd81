#pragma once
// How the fused styles turn dot products into scores: scale, score_mod and mask for one query row, in units of log2 so
// that the softmax is an exp2, but for scores that may be very large. In OpenCL C for sixteen neighbouring keys at a
// time, in CUDA C++ for one. Decides what is folded, what is hoisted and what is bounded instead of masked.

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "codegen/expr_stage.hpp"
#include "codegen/kernel_expr.hpp"
#include "codegen/kernel_helpers.hpp"
#include "operators/attention/attention.hpp"
#include "operators/attention/kernels/text.hpp"
#include "problem/problem.hpp"

namespace kw {

struct ScoreOptions {
  bool row_bounds = true;  ///< turn a mask that is an interval of keys per row into loop bounds
  bool fast_tanh = true;
  Dialect dialect = opencl_dialect();
  bool block_mask = true;   ///< tiles are classified: a term by which keys may lose has them skipped
  bool unit_later = false;  ///< may leave ScoreText::unit to what follows
  /// The rows of a tile are of all heads that share a key head, one head after the other: `h` is known with the row,
  /// and a row's number counts from `first_head`.
  bool pack_gqa = false;
};

/// Statements by the place where their values are first known. Inside the loops over keys `key` is the first of sixteen
/// key indices and `kv_idx` all of them; in CUDA C++ `key` may lie past the last one, and `kv_idx` is then the last.
struct StageText {
  std::vector<std::string> group;   ///< once per work-group
  std::vector<std::string> row;     ///< once per query row and KV block
  std::vector<std::string> column;  ///< once per sixteen keys, for all rows
  std::vector<NamedValue> columns;  ///< what `column` computes for elements; kept in arrays, see column_array
  std::vector<std::string> element;
  void append(const StageText& other);
};

[[nodiscard]] StageText stages_of(const KernelExpr& printed);
/// How a mod is printed for these styles; `prefix` is of the names that are made up.
[[nodiscard]] KernelExprOptions printing(const ScoreOptions& options, const char* prefix, bool fast_tanh);

/// The private array that keeps a column's values for a KV block.
[[nodiscard]] std::string column_array(const NamedValue& column);
/// The arrays' declarations, and the loop that fills them for the `vectors` from key `block` on.
[[nodiscard]] std::string column_declarations(const StageText& text);
[[nodiscard]] std::string column_loop(const StageText& text, const std::string& vectors);
/// Statements that load the columns' values of element `c`.
[[nodiscard]] std::vector<std::string> column_loads(const StageText& text);

/// How a first kernel finds what a row's terms must be above for their keys to count: some way below the largest.
struct RowLimitText {
  StageText stages;  ///< without columns
  std::string term;
  double distance = 0.0;
};

/// How a block mask tells which panels of keys a tile of rows needs: all that block_mask.cpp must know.
struct MaskText {
  StageText stages;
  std::string allowed;  ///< int16 mask or int, without regard to the sequence's end
  OuterNames names;
  Dependencies inputs;
  std::optional<RowLimitText> limits;  ///< `allowed` compares a term with `lost_below`, the row's limit
};

/// What was left out of every score of a row, in natural units: a function and its call for row `row`.
struct DroppedTerm {
  std::string definition;
  bool anchored = false;  ///< the call takes the term at key `anchor`, from which the slope was counted
  std::string call;
};

/// Statements by place, and what they need. `scores[c]` are the dot products, in CUDA C++ `dot_product`; the element
/// statements end by defining `float16 s` or `float s`.
struct ScoreText {
  StageText stages;
  std::string allowed;                       ///< int16 mask of the keys this row may attend to, or int
  std::vector<std::string> parameters;       ///< what group and the kernel hand to the function, as declarations
  std::vector<std::string> arguments;        ///< the same, as a call names them
  std::string bound_functions;               ///< first_allowed and last_allowed; empty without row bounds
  std::vector<std::string> bound_arguments;  ///< trailing arguments of both
  /// A mask that is no interval of keys per row. Where it has `limits` it says which keys count, and `allowed` still
  /// tells what must be masked.
  std::optional<MaskText> mask;
  std::optional<DroppedTerm> dropped;  ///< what LSE must be given back
  OuterNames names;                    ///< what the kernel must be handed
  std::set<KernelHelper> helpers;
  /// CUDA: what a score must still be multiplied by to be in units of log2; positive. The largest score is the same
  /// before and after, so that it can wait for the subtraction of the largest and becomes one instruction with it.
  std::string unit = "1.0f";
  /// Scores are in natural units, and log2(e) waits until the largest of a row is subtracted: times log2(e) some of
  /// them would be no floats, and others would be rounded differently from the ones Python computes with.
  bool natural = false;
  std::vector<std::string> notes;  ///< decisions worth telling the reader of the source
};

/// What scores, peaks and logarithms of sums are in, for comments.
[[nodiscard]] const char* score_units(const ScoreText& text);

[[nodiscard]] ScoreText score_text(const AttentionSpec& attention, const ScoreOptions& options);

}  // namespace kw

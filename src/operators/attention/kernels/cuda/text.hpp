#pragma once
// What the fused CUDA and HIP styles have in common: from a problem to the parts of its kernel that know nothing of the
// tiles' layout, and the bundle around the source.

#include <string>
#include <string_view>
#include <vector>

#include "codegen/text.hpp"
#include "operators/attention/attention.hpp"
#include "operators/attention/kernels/block_mask.hpp"
#include "operators/attention/kernels/cuda/decode.hpp"
#include "operators/attention/kernels/scores.hpp"
#include "operators/attention/kernels/text.hpp"
#include "problem/problem.hpp"
#include "record/bundle.hpp"

namespace kw {

/// A thread's part of a tile, as text in its source.
struct CudaTile {
  std::string rows;        ///< of a block's tile, as an expression of tunables
  std::string keys;        ///< the same
  std::string threads;     ///< the same
  std::string scores;      ///< declares a thread's scores as a parameter: "float (&scores)[..][..]"
  std::string key_offset;  ///< from a thread's first key to that of SCORE(r, c)
};

/// The source's opening: comment with `notes`, includes, constants.
[[nodiscard]] std::string cuda_preamble(const Problem& problem, const std::string& generator,
                                        const std::vector<std::string>& notes, Dialect dialect = cuda_dialect());

/// Structural choices of every fused style: row_bounds, block_mask, fast_tanh.
[[nodiscard]] std::vector<Tunable> cuda_mask_choices();

class CudaAttention {
 public:
  CudaAttention(const Problem& problem, const std::vector<Tunable>& choices, const IntBindings& structure,
                CudaTile tile, Dialect dialect = cuda_dialect());

  /// Fillings of the style's own text, parts of fused.cu among them: `preamble`, `softmax`, `classify`,
  /// `signature`, `indices`, `rows`, `bounds`, `part`, `first_needed`, `end_panel`, `finish`, `store_lse`, `element`,
  /// `sync_lanes`, and next_needed() below.
  [[nodiscard]] Fillings fillings(const std::string& generator, const std::vector<std::string>& notes) const;
  /// The panel after `panel` that the block needs, as an expression.
  [[nodiscard]] std::string next_needed(const std::string& panel) const;
  /// Header around `source`: scratch, defines, and launches with `shared_bytes` for the attention kernel.
  [[nodiscard]] Bundle bundle(const std::string& generator, const std::string& shared_bytes) const;
  [[nodiscard]] const DecodePlan& plan() const { return plan_; }
  /// As in ScoreText.
  [[nodiscard]] bool natural() const { return text_.natural; }

 private:
  [[nodiscard]] bool bounded() const { return !text_.bound_functions.empty(); }
  [[nodiscard]] KernelParameters attention_parameters() const;
  [[nodiscard]] std::string softmax() const;
  [[nodiscard]] std::string classify() const;
  [[nodiscard]] std::string indices() const;
  [[nodiscard]] std::string bounds() const;
  [[nodiscard]] std::string part() const;
  [[nodiscard]] std::string first_needed() const;
  [[nodiscard]] const char* all_rows() const { return plan_.pack_gqa ? "group_rows" : "Sq"; }
  [[nodiscard]] const char* end_panel() const { return plan_.split_kv ? "part_end" : "end_panel"; }
  [[nodiscard]] std::string finish() const;
  [[nodiscard]] std::string store_lse() const;

  const Problem& problem_;
  const AttentionSpec& attention_;
  Dialect dialect_;
  CudaTile tile_;
  DecodePlan plan_;
  ScoreText text_;
  bool mapped_ = false;
  MaskBuffers buffers_;
};

}  // namespace kw

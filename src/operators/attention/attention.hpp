#pragma once
// What only attention knows of a problem: read from the table [attention], and asked for by everything in this folder.

#include <optional>

#include "mod/analysis/losing_term.hpp"
#include "mod/analysis/masked_scores.hpp"
#include "mod/expression/expr.hpp"
#include "problem/problem.hpp"

namespace kw {

/// Scaled dot-product attention with FlexAttention's mods.
/// O[b,h,q,:] = sum_k softmax_k(mod(scale * <Q[b,h,q,:], K[b,g,k,:]>)) V[b,g,k,:], g = h / (Hq / Hkv); a row whose keys
/// are all masked gives 0. Axes: B, Hq, Hkv, Sq, Skv, D, Dv; Hkv divides Hq. Arithmetic is f32 whatever the dtype. A
/// finite score masks no key: where a row has nothing but -1e9, say, all of its keys count alike.
struct AttentionSpec final : OperatorDetail {
  DType dtype = DType::f32;  ///< of Q, K, V and O: f32, f16 or bf16
  /// Also asks for LSE[b,h,q] = log(sum_k exp(mod(...))), natural logarithm, f32; -inf for a row that is all masked.
  bool lse = false;
  std::optional<double> scale;  ///< absent: 1/sqrt(D)
  std::optional<ModFunction> score_mod;
  std::optional<ModFunction> mask_mod;
  /// Both again, for kernels that skip what is masked: with the masks that the score_mod holds in the mask_mod. Made by
  /// set_attention().
  MaskedMods apart;
  /// What of apart.score_mod can make keys lose on the data at hand, where apart.mask_mod is no interval of keys per
  /// row. Made by set_attention().
  std::optional<LosingTerm> losing;
  [[nodiscard]] double scale_for(const Axes& axes) const;
};

/// Null for a problem of another operator.
[[nodiscard]] const AttentionSpec* attention_of(const Problem& problem);
void set_attention(Problem& problem, AttentionSpec spec);
/// Whether kernels have to classify tiles to know which keys a row needs: a mask that is no interval of keys per row,
/// or a term by which keys may lose.
[[nodiscard]] bool needs_block_mask(const AttentionSpec& attention);

/// From here on a float has lost the score that something was added to: its neighbours are 8 away. Such scores are what
/// f32 makes of them, so that all keys of a row with -1e9 + score count alike, as they do in Python.
inline constexpr double k_coarse_score = 67'108'864.0;  // 2^26
/// A score that is so far below the largest that nothing but a mask can be meant. Biases of position stay above it on
/// the small workloads that ask.
inline constexpr double k_masking_distance = 8192.0;

}  // namespace kw

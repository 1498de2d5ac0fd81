#pragma once
// Few queries against many keys, as when a model decodes. The heads that share a key head are packed into one tile of
// rows, so that their keys are read once; and the keys are cut into parts, one block each, so that there is work for
// the whole device. A second kernel merges what the parts found: each part has the largest score of a row, the sum of
// the probabilities relative to it and the weighted values, and sums of different largest scores are brought to the
// same one (Dao et al., Flash-Decoding, 2023).

#include <string>
#include <vector>

#include "codegen/dialect.hpp"
#include "codegen/text.hpp"
#include "problem/problem.hpp"
#include "record/bundle.hpp"

namespace kw {

/// Scratch of the parts, in f32: weighted values [B * Hq * Sq][parts][Dv], and largest score, in the units that
/// ScoreText says, and sum of probabilities [B * Hq * Sq][parts][2].
inline constexpr const char* k_part_values = "part_values";
inline constexpr const char* k_part_sums = "part_sums";

/// The structural choices pack_gqa and split_kv: 1 where it pays.
[[nodiscard]] std::vector<Tunable> cuda_decode_choices();

/// What a problem's kernel does of both.
struct DecodePlan {
  bool pack_gqa = false;
  bool split_kv = false;
};
/// For styles without these choices, neither. Heads are not packed under a mask that is applied to every score and
/// differs from head to head: heads share its block mask.
[[nodiscard]] DecodePlan decode_plan(const Problem& problem, const std::vector<Tunable>& choices,
                                     const IntBindings& structure);

/// The tunable of kernels that split keys: how many blocks for each unit of the device.
[[nodiscard]] Tunable blocks_per_unit_tunable();

/// Expressions of axes, tunables and device facts. `rows` and `keys` are a block's tile.
[[nodiscard]] std::string row_tiles(const DecodePlan& plan, const std::string& rows);
[[nodiscard]] const char* tile_heads(const DecodePlan& plan);
/// As many parts as give every unit its blocks, at most one a panel of keys.
[[nodiscard]] std::string key_parts(const DecodePlan& plan, const std::string& rows, const std::string& keys);

/// The kernel "merge": a block a row and 128 of its elements. LSE, where there is one, holds what is to be added to it.
/// `natural` as in ScoreText.
[[nodiscard]] std::string merge_source(const Problem& problem, Dialect dialect, bool natural);
/// Adds the scratch of the parts and the launch of "merge".
void add_merge(const Problem& problem, const std::string& parts, Bundle& bundle);

}  // namespace kw

#pragma once
// Keys that can only lose by a term of the score_mod, such as a captured mask of 0 and -infinity that is added to the
// scores: a first launch finds what the terms of each row must be above, and the block mask (block_mask.hpp) leaves out
// the panels of keys that no row of a tile has above it. What is not left out is computed as if there were no mask, so
// that the answer does not depend on where panels end.

#include <string>

#include "mod/analysis/losing_term.hpp"
#include "operators/attention/kernels/scores.hpp"
#include "operators/attention/kernels/text.hpp"
#include "record/bundle.hpp"

namespace kw {

/// The limits' name in the source.
inline constexpr const char* k_row_limits = "row_limits";

/// Gives `text` a mask with limits, in the place of one that it may have: the term holds that.
void print_losing_term(const LosingTerm& losing, const ScoreOptions& options, ScoreText& text);

/// The kernel "row_limits", which writes a limit for each row of as few batches and heads as the term depends on; empty
/// for a mask without limits.
[[nodiscard]] std::string row_limits_source(const MaskText& mask, Dialect dialect);
/// Adds its scratch buffer, and its launch with blocks of `items` work-items. `rows` is how many rows a block takes, as
/// an expression of tunables. Nothing for a mask without limits.
void add_row_limits(const Problem& problem, const MaskText& mask, const std::string& rows, const std::string& items,
                    Dialect dialect, Bundle& bundle);
/// What the source says of a block mask, for its reader. `panels` is how the style names the keys of a panel and
/// the rows of a tile: "panels of keys for each tile of\nrows".
[[nodiscard]] std::string block_mask_note(const MaskText& mask, const std::string& panels);

}  // namespace kw

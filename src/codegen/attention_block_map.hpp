#pragma once
// Masks that are no interval of keys per row: a first launch evaluates the mask once per tile of rows and panel of
// keys, over as few of batch, head and query as it depends on, and the attention kernel skips panels that no row of a
// tile needs and leaves those unmasked that every row needs. The map has one code per tile and panel, never one per
// score.

#include <string>

#include "codegen/attention_scores.hpp"
#include "record/bundle.hpp"

namespace kw {

/// The map's name in the source.
inline constexpr const char* k_block_map = "block_map";

/// The kernel "classify", with the codes' definitions.
[[nodiscard]] std::string classify_source(const MaskText& mask);
/// `buffer` is the map's name in the bundle.
[[nodiscard]] Launch classify_launch(const MaskText& mask, const std::string& buffer);
/// Codes in the map, as an expression of axes and tunables.
[[nodiscard]] std::string block_map_elements(const MaskText& mask);
/// Defines `codes` in the attention kernel: those of the work-group's first tile.
[[nodiscard]] std::string codes_definition(const MaskText& mask);
/// The index in `codes` of tile t's first panel, as a summand; empty where all tiles share one.
[[nodiscard]] std::string tile_codes(const MaskText& mask);

}  // namespace kw

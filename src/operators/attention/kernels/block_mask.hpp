#pragma once
// Masks that are no interval of keys per row: a first launch evaluates the mask once per tile of rows and panel of
// keys, over as few of batch, head and query as it depends on, and the attention kernel skips panels that no row of a
// tile needs and leaves those unmasked that every row needs. The map has one code per tile and panel, never one per
// score.

#include <string>

#include "operators/attention/kernels/scores.hpp"
#include "operators/attention/kernels/text.hpp"
#include "record/bundle.hpp"

namespace kw {

/// The map's name in the source.
inline constexpr const char* k_block_mask = "block_mask";

/// The rows and keys that share a code, as expressions of tunables.
struct MapTile {
  std::string rows = "ROWS";
  std::string keys = "16 * PANELS";
  /// Tiles are of the rows of all heads that share a key head, one head after the other, under a mask that knows
  /// nothing of the head: all key heads share the map.
  bool pack_gqa = false;
  /// A work-group for every panel of a tile of rows, and not one for all.
  bool group_per_panel = false;
};

/// Their names in the bundle.
struct MaskBuffers {
  std::string map;
  std::string limits;  ///< losing_keys.hpp
};
[[nodiscard]] MaskBuffers mask_buffers(const Problem& problem);

/// The arguments of the kernel "classify".
[[nodiscard]] KernelParameters classify_parameters(const MaskText& mask, const MaskBuffers& buffers,
                                                   Dialect dialect = opencl_dialect(), bool pack_gqa = false);
/// Its opening comment, which says who shares the map's entries.
[[nodiscard]] std::string map_comment(const MaskText& mask);
/// The kernel "classify" in OpenCL C, with the codes' definitions.
[[nodiscard]] std::string classify_source(const MaskText& mask);
/// With work-groups of `items` work-items.
[[nodiscard]] Launch classify_launch(const MaskText& mask, const MaskBuffers& buffers, const MapTile& tile = {},
                                     const std::string& items = "1");
/// Codes in the map, as an expression of axes and tunables.
[[nodiscard]] std::string block_mask_elements(const MaskText& mask, const MapTile& tile = {});
/// Defines `codes` in the attention kernel: those of the work-group's first tile, of `rows` of the rows that
/// `all_rows` counts.
[[nodiscard]] std::string codes_definition(const MaskText& mask, const std::string& rows = "ROWS",
                                           const std::string& all_rows = "Sq", Dialect dialect = opencl_dialect());
/// The index in `codes` of tile t's first panel, as a summand; empty where all tiles share one.
[[nodiscard]] std::string tile_codes(const MaskText& mask);

}  // namespace kw

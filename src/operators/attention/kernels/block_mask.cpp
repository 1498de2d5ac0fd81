#include "operators/attention/kernels/block_mask.hpp"

#include <fmt/format.h>

#include "codegen/text.hpp"
#include "language/kernel_texts.hpp"
#include "operators/attention/kernels/losing_keys.hpp"

namespace kw {
namespace {

std::string index_definitions(const MaskText& mask) {
  std::vector<std::string> lines;
  if (mask.inputs.head) lines.emplace_back("const int h = get_group_id(1);");
  if (mask.inputs.batch) lines.emplace_back("const int b = get_group_id(2);");
  return join_lines(lines);
}

std::string row_tiles(const MapTile& tile) {
  return fmt::format("ceil_div({}, {})", tile.pack_gqa ? "Sq * (Hq / Hkv)" : "Sq", tile.rows);
}

std::string panels(const MapTile& tile) {
  return fmt::format("ceil_div(Skv, {})", tile.keys);
}

/// Of one batch and head.
std::string classifying_groups(const MaskText& mask, const MapTile& tile) {
  if (!tile.group_per_panel) return mask.inputs.query ? row_tiles(tile) : "1";
  return (mask.inputs.query ? row_tiles(tile) + " * " : "") + panels(tile);
}

/// Who shares the map's entries, for the reader.
std::string sharing(const MaskText& mask) {
  std::vector<std::string> ignored;
  if (!mask.inputs.batch) ignored.emplace_back("batch");
  if (!mask.inputs.head) ignored.emplace_back("head");
  if (!mask.inputs.query) ignored.emplace_back("query");
  if (ignored.empty()) return "";
  return fmt::format("The mask knows nothing of the {}, and the map has one entry for all.",
                     fmt::join(ignored, " and "));
}

}  // namespace

MaskBuffers mask_buffers(const Problem& problem) {
  return {free_buffer_name(problem, k_block_mask), free_buffer_name(problem, k_row_limits)};
}

KernelParameters classify_parameters(const MaskText& mask, const MaskBuffers& buffers, Dialect dialect, bool pack_gqa) {
  KernelParameters parameters(dialect);
  parameters.add_captures(mask.names.captures);
  if (mask.limits) parameters.add_tensor(DType::f32, false, k_row_limits, buffers.limits);
  parameters.add_tensor(DType::i32, true, k_block_mask, buffers.map);
  for (const char* axis : {"Sq", "Skv"}) parameters.add_axis(axis);
  if (pack_gqa && mask.inputs.query)
    for (const char* axis : {"Hq", "Hkv"}) parameters.add_axis(axis);
  parameters.add_axes(mask.names.axes);
  return parameters;
}

std::string map_comment(const MaskText& mask) {
  const std::string comment = "// The block mask: which keys of each panel the rows of a tile may attend to.";
  const std::string shared = sharing(mask);
  return shared.empty() ? comment : comment + "\n// " + shared;
}

std::string classify_source(const MaskText& mask) {
  const bool by_row = mask.inputs.query;
  return fill(kernel_text("attention/block_mask.cl", "classify"),
              {{"map_comment", map_comment(mask)},
               {"signature", classify_parameters(mask, {k_block_mask, k_row_limits}).signature("classify")},
               {"indices", index_definitions(mask)},
               {"group_statements", join_lines(mask.stages.group)},
               {"column_declarations", column_declarations(mask.stages)},
               {"column_loop", mask.stages.columns.empty() ? "" : column_loop(mask.stages, "vectors")},
               {"row_loop", by_row ? "#pragma unroll 1\nfor (int r = 0; r < ROWS; ++r) {" : "{"},
               {"query_index", by_row ? "const int q_idx = min((int)get_group_id(0) * ROWS + r, Sq - 1);" : ""},
               {"row_statements", join_lines(mask.stages.row)},
               {"element_statements", join_lines(mask.stages.element)},
               {"allowed", mask.allowed}});
}

Launch classify_launch(const MaskText& mask, const MaskBuffers& buffers, const MapTile& tile,
                       const std::string& items) {
  return {"classify",
          {classifying_groups(mask, tile), mask.inputs.head ? "Hq" : "1", mask.inputs.batch ? "B" : "1"},
          {items, "1", "1"},
          "0",
          classify_parameters(mask, buffers, opencl_dialect(), tile.pack_gqa).arguments()};
}

std::string block_mask_elements(const MaskText& mask, const MapTile& tile) {
  std::string elements;
  if (mask.inputs.batch) elements += "B * ";
  if (mask.inputs.head) elements += "Hq * ";
  if (mask.inputs.query) elements += row_tiles(tile) + " * ";
  return elements + panels(tile);
}

std::string codes_definition(const MaskText& mask, const std::string& rows, const std::string& all_rows,
                             Dialect dialect) {
  std::string head;
  if (mask.inputs.batch && mask.inputs.head)
    head = "((long)b * Hq + h)";
  else if (mask.inputs.batch)
    head = "(long)b";
  else if (mask.inputs.head)
    head = "(long)h";
  std::string tile = head;
  if (mask.inputs.query && head.empty())
    tile = fmt::format("(long)(first_row / {})", rows);
  else if (mask.inputs.query)
    tile = fmt::format("({0} * (({1} + {2} - 1) / {2}) + first_row / {2})", head, all_rows, rows);
  const std::string definition = fmt::format("__global const int* codes = {}", k_block_mask);
  return in_dialect(tile.empty() ? definition + ";" : fmt::format("{} + {} * panels;", definition, tile), dialect);
}

std::string tile_codes(const MaskText& mask) {
  return mask.inputs.query ? "t * panels + " : "";
}

}  // namespace kw

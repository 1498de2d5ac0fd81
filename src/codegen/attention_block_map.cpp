#include "codegen/attention_block_map.hpp"

#include <fmt/format.h>

#include "codegen/attention_vector_source.hpp"
#include "codegen/text.hpp"

namespace kw {
namespace {

KernelParameters classify_parameters(const MaskText& mask, const std::string& buffer) {
  KernelParameters parameters;
  parameters.add_captures(mask.names.captures);
  parameters.add_tensor(DType::i32, true, k_block_map, buffer);
  for (const char* axis : {"Sq", "Skv"}) parameters.add_axis(axis);
  parameters.add_axes(mask.names.axes);
  return parameters;
}

std::string index_definitions(const MaskText& mask) {
  std::vector<std::string> lines;
  if (mask.inputs.head) lines.emplace_back("const int h = get_group_id(1);");
  if (mask.inputs.batch) lines.emplace_back("const int b = get_group_id(2);");
  return join_lines(lines);
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

std::string classify_source(const MaskText& mask) {
  const bool by_row = mask.inputs.query;
  const std::string comment = "// The block map: which keys of each panel the rows of a tile may attend to.";
  const std::string shared = sharing(mask);
  return fill(k_classify_source,
              {{"map_comment", shared.empty() ? comment : comment + "\n// " + shared},
               {"signature", classify_parameters(mask, k_block_map).signature("classify")},
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

Launch classify_launch(const MaskText& mask, const std::string& buffer) {
  return {
      "classify",
      {mask.inputs.query ? "ceil_div(Sq, ROWS)" : "1", mask.inputs.head ? "Hq" : "1", mask.inputs.batch ? "B" : "1"},
      {"1", "1", "1"},
      "0",
      classify_parameters(mask, buffer).arguments()};
}

std::string block_map_elements(const MaskText& mask) {
  std::string elements;
  if (mask.inputs.batch) elements += "B * ";
  if (mask.inputs.head) elements += "Hq * ";
  if (mask.inputs.query) elements += "ceil_div(Sq, ROWS) * ";
  return elements + "ceil_div(Skv, 16 * PANELS)";
}

std::string codes_definition(const MaskText& mask) {
  std::string head;
  if (mask.inputs.batch && mask.inputs.head)
    head = "((long)b * Hq + h)";
  else if (mask.inputs.batch)
    head = "(long)b";
  else if (mask.inputs.head)
    head = "(long)h";
  std::string tile = head;
  if (mask.inputs.query && head.empty())
    tile = "(long)(first_row / ROWS)";
  else if (mask.inputs.query)
    tile = fmt::format("({} * ((Sq + ROWS - 1) / ROWS) + first_row / ROWS)", head);
  if (tile.empty()) return fmt::format("__global const int* codes = {};", k_block_map);
  return fmt::format("__global const int* codes = {} + {} * panels;", k_block_map, tile);
}

std::string tile_codes(const MaskText& mask) {
  return mask.inputs.query ? "t * panels + " : "";
}

}  // namespace kw

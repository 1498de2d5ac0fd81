#include "operators/program/kernels/contract_boxes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "codegen/text.hpp"
#include "language/kernel_texts.hpp"

namespace kw {
namespace {

std::string_view box_section(const char* name) {
  return kernel_text("program/contract_boxes.cu", name);
}

std::string describe_text(const BoxTensor& tensor, const char* line, const char* map, const char* index) {
  return fill_lines(box_section("describe"),
                    {{"line", line},
                     {"map", map},
                     {"index", index},
                     {"memory", tensor.memory},
                     {"extents", fmt::format("{}", fmt::join(tensor.extents, ", "))},
                     {"strides", fmt::format("2L * {}, 2L * {}", tensor.strides[0], tensor.strides[1])},
                     {"rows", tensor.rows}});
}

std::string copy_text(const BoxCopy& copy, const char* tiles, const char* map) {
  return fill_lines(box_section(copy.panels_of_lines ? "copy_panels" : "copy_along_steps"),
                    {{"tiles", tiles}, {"map", map}, {"step", copy.step}, {"line", copy.line}, {"outer", copy.outer}});
}

}  // namespace

std::string box_arrivals_text(const BoxTensor& rows, const BoxTensor& columns, const std::string& whole) {
  const auto by = [&](const std::string& threads) { return whole.empty() ? threads : threads + " && " + whole; };
  return fill_lines(box_section("arrivals"), {{"describes_rows", by("thread < 32")},
                                              {"describe_rows", describe_text(rows, "row", "map", "0")},
                                              {"describes_columns", by("thread < 64")},
                                              {"describe_columns", describe_text(columns, "column", "map + 32", "1")},
                                              {"acquires", by("thread == 0")}});
}

std::string box_map_words(const std::string& blocks) {
  return fmt::format("64 * ({})", blocks);
}

std::string box_copies_text(const BoxCopy& rows, const BoxCopy& columns) {
  return fill_lines(box_section("copy"), {{"copy_rows", copy_text(rows, "row_tiles", "map")},
                                          {"copy_columns", copy_text(columns, "column_tiles", "map + 32")}});
}

}  // namespace kw

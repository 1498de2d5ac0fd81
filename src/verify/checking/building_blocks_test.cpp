#include "verify/checking/building_blocks.hpp"

#include <gtest/gtest.h>

#include "verify/checking/source_lines.hpp"

namespace kw {
namespace {

std::vector<std::string> rest(std::string_view source) {
  auto lines = without_building_blocks(source_lines(source).lines);
  std::erase(lines, "");
  return lines;
}

constexpr std::string_view k_block =
    "#ifdef KW_SIM\n"
    "  const unsigned b[2] = {b0, b1};\n"
    "  __kw_sim_mma_m16n8k16_f16_f32(d, a, b);\n"
    "#else\n"
    "  asm volatile(\n"
    "      \"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, \"\n"
    "      \"{%0, %1, %2, %3};\"\n"
    "      : \"+f\"(d[0]), \"+f\"(d[1]), \"+f\"(d[2]), \"+f\"(d[3])\n"
    "      : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]), \"r\"(b0), \"r\"(b1));\n"
    "#endif\n";

std::string changed(std::string_view from, std::string_view to) {
  std::string text(k_block);
  return text.replace(text.find(from), from.size(), to);
}

TEST(BuildingBlocks, are_left_out_word_for_word) {
  EXPECT_EQ(rest(k_block), std::vector<std::string>{});
  EXPECT_EQ(rest("int a;\n" + std::string(k_block) + "int b;"), (std::vector<std::string>{"int a;", "int b;"}));
}

TEST(BuildingBlocks, may_be_indented_wrapped_and_commented_otherwise) {
  EXPECT_EQ(rest(changed("asm volatile(\n      ", "asm volatile(  // one instruction\n")), std::vector<std::string>{});
  EXPECT_EQ(rest(changed("  const unsigned b", "\t\t  const unsigned  b")), std::vector<std::string>{});
  EXPECT_EQ(rest(changed("b1};\n", "b1};  // a pair\n")), std::vector<std::string>{});
}

TEST(BuildingBlocks, with_any_other_word_are_none) {
  for (const auto& [from, to] : {std::pair{"b1};", "b0};"},
                                 {"(d, a, b);", "(d, a, b); d[0] = 0;"},
                                 {"_f16_f32(d", "_f16_f32(d, a, b); steal(d"},
                                 {"#else\n", "#else\n#define HIDDEN\n"},
                                 {"asm volatile", "asm"},
                                 {"#ifdef KW_SIM", "#ifndef KW_SIM"}}) {
    EXPECT_FALSE(rest(changed(from, to)).empty()) << to;
  }
}

TEST(BuildingBlocks, do_not_hide_what_stands_behind_an_open_group) {
  EXPECT_EQ(rest("#ifdef KW_SIM\nint a;\n").size(), 2U);
}

}  // namespace
}  // namespace kw

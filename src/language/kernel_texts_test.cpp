#include "language/kernel_texts.hpp"

#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <string>

namespace kw {
namespace {

TEST(KernelTexts, name_each_section_once_in_its_file) {
  std::set<std::string> seen;
  for (const KernelSection& section : kernel_sections()) {
    EXPECT_TRUE(seen.insert(std::string(section.file) + ": " + std::string(section.name)).second) << section.name;
    EXPECT_TRUE(std::regex_match(std::string(section.name), std::regex("[a-z][a-z0-9_]*"))) << section.name;
  }
  EXPECT_GT(seen.size(), 50U);
}

TEST(KernelTexts, are_whole_lines_without_blank_ones_at_the_ends) {
  for (const KernelSection& section : kernel_sections()) {
    const std::string where = std::string(section.file) + ": " + std::string(section.name);
    ASSERT_FALSE(section.text.empty()) << where;
    EXPECT_NE(section.text.front(), '\n') << where;
    EXPECT_TRUE(section.text.ends_with("\n")) << where;
    EXPECT_FALSE(section.text.ends_with("\n\n")) << where;
    EXPECT_EQ(section.text.find("// ---"), std::string_view::npos) << where << ": a note inside of the text";
  }
}

TEST(KernelTexts, have_holes_of_one_form) {
  const std::regex hole(R"(\$\{[a-z][a-z0-9_]*\})");
  for (const KernelSection& section : kernel_sections()) {
    const std::string rest = std::regex_replace(std::string(section.text), hole, "");
    EXPECT_EQ(rest.find("${"), std::string::npos) << section.file << ": " << section.name;
  }
}

TEST(KernelTexts, say_in_each_file_what_it_is) {
  for (const EmbeddedText& file : embedded_kernel_texts())
    EXPECT_TRUE(kernel_file_comment(file.text).starts_with("// ")) << file.name;
}

TEST(KernelTexts, keep_notes_to_the_reader_of_the_file_out_of_kernels) {
  EXPECT_TRUE(kernel_text("attention/vector.cl", "store_row_f16").starts_with("#if VALUE_DIM % LANES == 0\n"));
}

TEST(KernelTextsDeathTest, aborts_on_a_section_that_does_not_exist) {
  EXPECT_DEATH(static_cast<void>(kernel_text("attention/vector.cl", "nothing")),
               "kernels/attention/vector.cl has no section \"nothing\"");
}

}  // namespace
}  // namespace kw

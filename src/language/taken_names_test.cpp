#include "language/taken_names.hpp"

#include <gtest/gtest.h>

namespace kw {
namespace {

TEST(TakenNames, are_tunables_and_definitions_that_only_bundles_name) {
  EXPECT_TRUE(is_kernel_definition("RESIDENT"));
  EXPECT_TRUE(is_kernel_definition("HEAD_DIM"));
  EXPECT_TRUE(is_taken_in_kernels("RESIDENT"));
}

TEST(TakenNames, are_macros_of_kernel_files) {
  EXPECT_TRUE(is_kernel_definition("LOG2_E"));
  EXPECT_TRUE(is_kernel_definition("SOME_KEYS"));
  EXPECT_FALSE(is_kernel_definition("panel"));
}

TEST(TakenNames, are_identifiers_of_kernel_files) {
  for (const char* name : {"panel", "needed_panel", "row_first", "cp_async_wait", "columns_ready", "lane"})
    EXPECT_TRUE(is_taken_in_kernels(name)) << name;
  EXPECT_TRUE(is_taken_in_kernels("nearest_index")) << "a function of kernels/shared";
  EXPECT_FALSE(is_taken_in_kernels("table")) << "its parameter";
}

TEST(TakenNames, are_not_what_the_files_hold_besides) {
  EXPECT_FALSE(is_taken_in_kernels("wgmma")) << "in a string";
  EXPECT_FALSE(is_taken_in_kernels("accumulators")) << "in a comment, and a hole";
  EXPECT_FALSE(is_taken_in_kernels("sfedcba9876543210")) << "a member";
  EXPECT_FALSE(is_taken_in_kernels("0f")) << "of a number";
  EXPECT_FALSE(is_taken_in_kernels("Skv")) << "the problem's own";
  EXPECT_FALSE(is_taken_in_kernels("document_id"));
}

TEST(TakenNames, are_words_of_the_languages) {
  EXPECT_TRUE(is_c_word("while"));
  EXPECT_TRUE(is_c_word("rsqrt"));
  EXPECT_FALSE(is_c_word("namespace"));
  EXPECT_TRUE(is_taken_in_kernels("namespace"));
  EXPECT_TRUE(is_taken_in_kernels("FLT_MAX"));
}

}  // namespace
}  // namespace kw

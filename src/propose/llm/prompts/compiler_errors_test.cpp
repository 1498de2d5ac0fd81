#include "propose/llm/prompts/compiler_errors.hpp"

#include <gtest/gtest.h>

namespace kw {
namespace {

/// "LINE,COLUMN: TEXT" of each.
std::vector<std::string> errors_of(const std::string& log) {
  std::vector<std::string> found;
  for (const auto& error : first_compiler_errors(log, 10)) {
    found.push_back(fmt::format("{},{}: {}", error.line, error.column, error.text));
  }
  return found;
}
using Errors = std::vector<std::string>;

TEST(CompilerErrors, of_clang) {
  EXPECT_EQ(errors_of("kernel.cl:3:5: error: no such function 'f'\n  3 | f();\n"), Errors{"3,5: no such function 'f'"});
}

TEST(CompilerErrors, of_pocl_which_puts_the_place_behind_the_word) {
  EXPECT_EQ(errors_of("error: kernel.cl:39:14: use of undeclared identifier 'f'\nclBuildProgram failed\n"),
            Errors{"39,14: use of undeclared identifier 'f'"});
  EXPECT_EQ(errors_of("error: kernel.cl:19:38 <Spelling=/usr/share/x.h:140:24>: call to 'min' is ambiguous\n"),
            Errors{"19,38: call to 'min' is ambiguous"});
}

TEST(CompilerErrors, of_nvrtc) {
  EXPECT_EQ(errors_of("kernel.cu(7): error: identifier \"f\" is undefined\n"),
            Errors{"7,0: identifier \"f\" is undefined"});
}

TEST(CompilerErrors, once_per_line_of_source_and_none_without_a_place) {
  EXPECT_EQ(errors_of("a.cl:3:5: error: one\na.cl:3:9: error: two\nerror: nothing built\nerror:\n"),
            Errors{"3,5: one"});
}

}  // namespace
}  // namespace kw

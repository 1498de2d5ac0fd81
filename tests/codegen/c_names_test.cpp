// The compilers' names and the generator's must agree across folders that do not know each other.

#include "language/c_names.hpp"

#include <gtest/gtest.h>

#include <regex>
#include <string>

#include "codegen/kernel_helpers.hpp"

namespace kw {
namespace {

TEST(CNames, are_no_names_that_a_users_axis_or_tensor_keeps) {
  const std::string text(k_c_names);
  const std::regex definition(R"((?:#define|using) (\w+))");
  int names = 0;
  for (auto it = std::sregex_iterator(text.begin(), text.end(), definition); it != std::sregex_iterator(); ++it) {
    const std::string name = (*it)[1];
    EXPECT_EQ(kernel_name(name), name + "_");
    ++names;
  }
  EXPECT_GT(names, 40);
}

}  // namespace
}  // namespace kw

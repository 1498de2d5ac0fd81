#include "propose/llm/prompts/same_source.hpp"

#include <gtest/gtest.h>

namespace kw {
namespace {

Bundle bundle_of(const std::string& source) {
  Bundle bundle;
  bundle.target = "opencl";
  bundle.launches = {{"k", {"Sq"}, {"1"}, "0", {"Q"}}};
  bundle.source = source;
  return bundle;
}

TEST(SameSource, looks_past_tunables_comments_and_blanks) {
  const Bundle one = bundle_of("void k() { int a = 1; }\n");
  Bundle other = bundle_of("// by hand\nvoid k() {\n  int a /* count */ = 1;\n}\n");
  other.tunables = {{"A", {1, 2}, 2}};
  other.generator = "someone";
  EXPECT_EQ(source_identity(one), source_identity(other));
}

TEST(SameSource, tells_other_code_and_other_launches_apart) {
  const Bundle one = bundle_of("void k() { int a = 1; }\n");
  EXPECT_NE(source_identity(one), source_identity(bundle_of("void k() { int a = 2; }\n")));
  Bundle wider = one;
  wider.launches[0].grid = {"Sq", "Hq"};
  EXPECT_NE(source_identity(one), source_identity(wider));
}

TEST(SameSource, ends_where_a_comment_never_does) {
  EXPECT_EQ(source_identity(bundle_of("int a; /* and")), source_identity(bundle_of("int a; // x")));
}

}  // namespace
}  // namespace kw

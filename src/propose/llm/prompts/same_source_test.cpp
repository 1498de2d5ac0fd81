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

Hash novelty_of(const std::string& source, std::int64_t value = 2) {
  Bundle bundle = bundle_of(source);
  bundle.tunables = {{"A", {1, 2}, 2}};
  return novelty_identity(make_candidate(std::move(bundle), {{"A", value}}).value());
}

TEST(Novelty, looks_past_names_of_variables_comments_and_blanks) {
  EXPECT_EQ(novelty_of("void k(float* x) { float sum = 0; sum += x[0]; }"),
            novelty_of("void k(float *in) {\n  // adds up\n  float total = 0;\n  total += in[0];\n}\n"));
}

TEST(Novelty, tells_other_functions_numbers_and_roles_of_variables_apart) {
  const Hash one = novelty_of("void k(float* x) { float a = 1; float b = 2; x[0] = exp(a - b); }");
  EXPECT_NE(one, novelty_of("void k(float* x) { float a = 1; float b = 2; x[0] = log(a - b); }"));
  EXPECT_NE(one, novelty_of("void k(float* x) { float a = 1; float b = 2; x[0] = exp(b - a); }"));
  EXPECT_NE(one, novelty_of("void k(float* x) { float a = 1; float b = 3; x[0] = exp(a - b); }"));
  EXPECT_NE(one, novelty_of("void k(half* x) { float a = 1; float b = 2; x[0] = exp(a - b); }"));
  EXPECT_NE(novelty_of("int a;", 1), novelty_of("int a;", 2)) << "another value of a tunable";
}

TEST(SourceDistance, is_none_between_equals_and_all_between_strangers) {
  const Bundle one = bundle_of("a b c d e f");
  EXPECT_DOUBLE_EQ(source_distance(one, one), 0);
  EXPECT_DOUBLE_EQ(source_distance(one, bundle_of("u v w x y z")), 1);
  EXPECT_DOUBLE_EQ(source_distance(one, bundle_of("a b c d e g")), 0.5);
}

TEST(SameSource, ends_where_a_comment_never_does) {
  EXPECT_EQ(source_identity(bundle_of("int a; /* and")), source_identity(bundle_of("int a; // x")));
}

}  // namespace
}  // namespace kw

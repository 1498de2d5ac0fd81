#include "base/utf8.hpp"

#include <gtest/gtest.h>

namespace kw {
namespace {

TEST(Utf8, replaces_each_byte_that_is_no_text_and_keeps_the_rest) {
  using namespace std::string_view_literals;
  EXPECT_EQ(replace_non_text("plain \xe2\x82\xac"), "plain \xe2\x82\xac");
  EXPECT_EQ(replace_non_text("a\xff"
                             "b\0c"sv),
            "a\xef\xbf\xbd"
            "b\xef\xbf\xbd"
            "c");
  EXPECT_EQ(replace_non_text("\xe2\x82"), "\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(replace_non_text("\xed\xa0\x80").find('\xed'), std::string::npos) << "a surrogate is no character";
  EXPECT_EQ(replace_non_text(""), "");
}

}  // namespace
}  // namespace kw

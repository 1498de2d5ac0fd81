#include "device/shared_library.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device/device.hpp"

namespace kw {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(SharedLibrary, is_the_first_name_that_loads) {
  const auto opened = open_library({"libnosuch.so.1", "libm.so.6", "libc.so.6"}, "Mathematics", "buy a book");
  ASSERT_TRUE(opened) << opened.error().to_string();
  EXPECT_EQ(opened->name, "libm.so.6");
}

TEST(SharedLibrary, says_of_every_name_why_it_did_not_load) {
  const auto opened = open_library({"libnosuch.so.1", "libnosuch.so.2"}, "Mathematics", "buy a book");
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code.name, errc::device_unavailable.name);
  EXPECT_EQ(opened.error().hint, "buy a book");
  EXPECT_THAT(opened.error().message,
              AllOf(StartsWith("Mathematics cannot be loaded: libnosuch.so.1: "), HasSubstr("; libnosuch.so.2: ")));
}

TEST(SymbolFinder, remembers_the_first_function_that_is_missing) {
  const auto opened = open_library({"libm.so.6"}, "Mathematics", "");
  ASSERT_TRUE(opened) << opened.error().to_string();
  double (*cosine)(double) = nullptr;
  double (*nothing)(double) = cosine;
  SymbolFinder find{opened->handle};
  find("cos", cosine);
  ASSERT_NE(cosine, nullptr);
  EXPECT_EQ(cosine(0), 1);
  find.optional("no_such_function", nothing);
  EXPECT_EQ(find.missing, "") << "it is not needed";
  find("no_such_function", nothing);
  find("another_one", nothing);
  EXPECT_EQ(nothing, nullptr);
  EXPECT_EQ(find.missing, "no_such_function");
}

}  // namespace
}  // namespace kw

#include "cli/build_cache_folder.hpp"

#include <gtest/gtest.h>

#include <map>

namespace kw {
namespace {

std::string folder_with(const std::map<std::string, std::string>& variables) {
  return build_cache_folder([&](const char* name) {
           const auto found = variables.find(name);
           return found == variables.end() ? std::string() : found->second;
         })
      .string();
}

TEST(BuildCacheFolder, is_named_or_a_users_cache) {
  EXPECT_EQ(folder_with({{"HOME", "/home/u"}}), "/home/u/.cache/kernelwright/builds");
  EXPECT_EQ(folder_with({{"HOME", "/home/u"}, {"XDG_CACHE_HOME", "/c"}}), "/c/kernelwright/builds");
  EXPECT_EQ(folder_with({{"HOME", "/home/u"}, {"XDG_CACHE_HOME", "c"}}), "/home/u/.cache/kernelwright/builds");
  EXPECT_EQ(folder_with({{"XDG_CACHE_HOME", "/c"}, {"KERNELWRIGHT_BUILD_CACHE", "/b"}}), "/b");
}

TEST(BuildCacheFolder, is_none_where_a_user_says_so_and_without_a_home) {
  EXPECT_EQ(folder_with({{"HOME", "/home/u"}, {"KERNELWRIGHT_BUILD_CACHE", "none"}}), "");
  EXPECT_EQ(folder_with({}), "");
}

}  // namespace
}  // namespace kw

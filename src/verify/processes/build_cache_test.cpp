#include "verify/processes/build_cache.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "base/testing/scratch_directory.hpp"

namespace kw {
namespace {

namespace fs = std::filesystem;

std::shared_future<Hash> toolchain(std::string_view text = "gcc 12") {
  std::promise<Hash> known;
  known.set_value(hash_bytes(text));
  return known.get_future().share();
}

BuildRequest request_for(const std::string& source) {
  BuildRequest request;
  request.device_id = "opencl:0";
  request.source = source;
  request.definitions = {{"N", 8}};
  return request;
}

BuildReply reply_with(const std::string& binary) {
  BuildReply reply;
  reply.log = "a warning";
  reply.binary = binary;
  reply.build_ns = 84'000'000;
  reply.registers = 40;
  return reply;
}

class BuildCacheTest : public ::testing::Test {
 protected:
  [[nodiscard]] BuildCache open(std::int64_t most_bytes = k_most_cached_bytes) const {
    return {folder, "opencl:0", toolchain(), most_bytes};
  }
  [[nodiscard]] std::vector<fs::path> entries() const {
    std::vector<fs::path> all;
    for (const auto& entry : fs::directory_iterator(folder)) all.push_back(entry.path());
    return all;
  }
  ScratchDirectory scratch;
  const fs::path folder = scratch.path() / "cache" / "builds";
};

TEST_F(BuildCacheTest, a_later_run_finds_a_build_as_it_was) {
  auto first = open();
  EXPECT_FALSE(first.find(request_for("a")));
  EXPECT_FALSE(fs::exists(folder)) << "looking makes nothing";
  first.keep(request_for("a"), reply_with("binary of a"));
  auto later = open();
  const auto found = later.find(request_for("a"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->binary, "binary of a");
  EXPECT_EQ(found->log, "a warning");
  EXPECT_EQ(found->build_ns, 84'000'000);
  EXPECT_EQ(found->registers, 40);
  EXPECT_EQ(later.found(), 1);
  EXPECT_EQ(first.found(), 0);
  const auto size = size_of_build_cache(folder);
  EXPECT_EQ(size.builds, 1);
  EXPECT_GT(size.bytes, std::ssize(found->binary));
}

TEST_F(BuildCacheTest, whatever_a_build_depends_on_makes_another) {
  open().keep(request_for("a"), reply_with("binary of a"));
  auto same = open();
  EXPECT_FALSE(same.find(request_for("b")));
  BuildRequest other = request_for("a");
  other.definitions.front().second = 9;
  EXPECT_FALSE(same.find(other));
  other = request_for("a");
  other.launches.push_back({"k", {1, 1, 1}, {64, 1, 1}, 0, {}});
  EXPECT_FALSE(same.find(other));
  other = request_for("a");
  other.inspection = Inspection::left_out;
  EXPECT_FALSE(same.find(other));
  other = request_for("a");
  other.counting = Counting::accesses;
  EXPECT_FALSE(same.find(other));
  EXPECT_FALSE(BuildCache(folder, "opencl:1", toolchain()).find(request_for("a")));
  EXPECT_FALSE(BuildCache(folder, "opencl:0", toolchain("gcc 13")).find(request_for("a")));
  EXPECT_TRUE(same.find(request_for("a")));
}

TEST_F(BuildCacheTest, a_damaged_build_is_as_if_it_were_not_there) {
  open().keep(request_for("a"), reply_with("binary of a"));
  const fs::path entry = entries().at(0);
  const auto whole = fs::file_size(entry);
  for (std::uintmax_t at = 0; at < whole; ++at) {
    std::fstream file(entry, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(at));
    const char was = static_cast<char>(file.get());
    file.seekp(static_cast<std::streamoff>(at));
    file.put(static_cast<char>(was ^ 1)).flush();
    EXPECT_FALSE(open().find(request_for("a"))) << "byte " << at;
    file.seekp(static_cast<std::streamoff>(at));
    file.put(was);
  }
  ASSERT_TRUE(open().find(request_for("a")));
  for (const std::uintmax_t left : {whole - 1, std::uintmax_t{32}, std::uintmax_t{31}, std::uintmax_t{0}}) {
    fs::resize_file(entry, left);
    EXPECT_FALSE(open().find(request_for("a"))) << left << " bytes";
  }
}

TEST_F(BuildCacheTest, a_folder_that_others_may_write_is_not_used) {
  open().keep(request_for("a"), reply_with("binary of a"));
  EXPECT_EQ(fs::status(folder).permissions(), fs::perms::owner_all);
  fs::permissions(folder, fs::perms::others_write, fs::perm_options::add);
  auto cache = open();
  EXPECT_FALSE(cache.find(request_for("a")));
  cache.keep(request_for("b"), reply_with("binary of b"));
  EXPECT_EQ(entries().size(), 1U);
}

TEST_F(BuildCacheTest, those_used_least_lately_make_room) {
  const std::string large(1000, 'x');
  auto cache = open(4000);
  const auto age = [&](std::size_t hours) {
    for (const auto& entry : entries())
      fs::last_write_time(entry, fs::last_write_time(entry) - std::chrono::hours(hours));
  };
  for (const char* one : {"a", "b", "c"}) {
    cache.keep(request_for(one), reply_with(one + large));
    age(1);
  }
  ASSERT_TRUE(cache.find(request_for("a"))) << "the oldest, but used now";
  EXPECT_EQ(entries().size(), 3U);
  std::ofstream(folder / "left by a killed program.1.0.build") << large;
  fs::last_write_time(folder / "left by a killed program.1.0.build",
                      fs::file_time_type::clock::now() - std::chrono::hours(10));
  cache.keep(request_for("d"), reply_with("d" + large));
  EXPECT_LE(size_of_build_cache(folder).bytes, 3000) << "a quarter is free again";
  EXPECT_EQ(entries().size(), 2U) << "no more than that takes";
  EXPECT_TRUE(cache.find(request_for("a")));
  EXPECT_TRUE(cache.find(request_for("d")));
}

TEST_F(BuildCacheTest, forgets_what_cannot_be_loaded) {
  auto cache = open();
  cache.keep(request_for("a"), reply_with("binary of a"));
  cache.keep(request_for("b"), reply_with("binary of b"));
  ASSERT_TRUE(cache.find(request_for("a")));
  cache.forget(std::vector<std::string>{"binary of a", "binary of b"});
  EXPECT_FALSE(cache.find(request_for("a")));
  EXPECT_TRUE(cache.find(request_for("b"))) << "that one was never given";
}

TEST_F(BuildCacheTest, keeps_nothing_where_it_cannot_write) {
  fs::create_directories(scratch.path());
  std::ofstream(scratch.path() / "cache") << "a file";
  auto cache = open();
  cache.keep(request_for("a"), reply_with("binary of a"));
  EXPECT_FALSE(cache.find(request_for("a")));
  EXPECT_EQ(size_of_build_cache(folder).builds, 0);
}

}  // namespace
}  // namespace kw

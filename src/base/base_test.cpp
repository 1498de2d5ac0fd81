#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <utility>

#include "base/checked.hpp"
#include "base/file_system.hpp"
#include "base/hash.hpp"
#include "base/result.hpp"
#include "base/rng.hpp"
#include "base/testing/scratch_directory.hpp"

namespace kw {
namespace {

TEST(Error, prints_place_message_context_and_hint) {
  Error error{errc::io, "cannot read it", "look elsewhere", {"a.toml", 3, 7}, {"loading the problem"}};
  EXPECT_EQ(error.to_string(),
            "a.toml:3:7: cannot read it [base.io]\n  while loading the problem\n  try: look elsewhere");
}

TEST(Hash, is_sha256_and_separates_fields) {
  EXPECT_EQ(hash_bytes("abc").hex(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_NE(Hasher().add("ab").add("c").finish(), Hasher().add("a").add("bc").finish());
}

TEST(Checked, refuses_overflow_and_floors_like_python) {
  EXPECT_FALSE(checked_mul(INT64_MAX, 2).has_value());
  EXPECT_FALSE(checked_add(INT64_MAX, 1).has_value());
  EXPECT_EQ(floor_div(-7, 2), -4);
  EXPECT_EQ(floor_mod(-7, 2), 1);
  EXPECT_EQ(floor_mod(7, -2), -1);
}

TEST(Rng, repeats_from_its_seed_and_stays_in_bounds) {
  Rng a(42);
  Rng b(42);
  for (int i = 0; i < 1000; ++i) {
    const auto x = a.below(7);
    EXPECT_EQ(x, b.below(7));
    EXPECT_TRUE(x >= 0 && x < 7) << x;
  }
}

TEST(RealFileSystem, writes_atomically_and_names_what_is_missing) {
  const ScratchDirectory scratch;
  const auto directory = scratch.path() / "new";
  RealFileSystem files;
  ASSERT_TRUE(files.create_directories(directory));
  ASSERT_TRUE(files.write_atomic(directory / "x", "hello"));
  EXPECT_EQ(files.read(directory / "x", 100).value(), "hello");
  const auto missing = files.read(directory / "y", 100);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, errc::not_found);
  const auto large = files.read(directory / "x", 3);
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().code, errc::too_large);
}

TEST(RealFileSystem, reads_nothing_but_files) {
  const ScratchDirectory scratch;
  const auto pipe = scratch.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const std::pair<std::filesystem::path, const char*> others[] = {
      {pipe, "a pipe"}, {scratch.path(), "a directory"}, {"/dev/null", "a device"}};
  for (const auto& [path, kind] : others) {
    const auto read = RealFileSystem().read(path, 100);
    ASSERT_FALSE(read) << path;
    EXPECT_EQ(read.error().code, errc::not_a_file);
    EXPECT_EQ(read.error().message, path.string() + " is " + kind + ", not a file");
  }
}

}  // namespace
}  // namespace kw

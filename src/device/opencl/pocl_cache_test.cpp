// The names under which PoCL looks for a kernel, on a cache that the test lays out.

#include "device/opencl/pocl_cache.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "base/environment.hpp"
#include "base/testing/scratch_directory.hpp"

namespace kw::opencl {
namespace {

namespace fs = std::filesystem;

class PoclCache : public ::testing::Test {
 protected:
  /// XX/<hash>/<kernel>/<variant>/<kernel>.so
  void add(const std::string& kernel, const std::string& variant) {
    const fs::path folder = cache_.path() / "AB" / "CDEF" / kernel / variant;
    fs::create_directories(folder);
    std::ofstream(folder / (kernel + ".so")) << "code of " << variant;
  }
  [[nodiscard]] std::string code_of(const std::string& kernel, const std::string& variant) const {
    std::ifstream file(cache_.path() / "AB" / "CDEF" / kernel / variant / (kernel + ".so"));
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void reuse(const std::vector<PlannedLaunch>& launches) { reuse_generic_variants(cache_.path(), launches); }

  ScratchDirectory cache_;
};

TEST_F(PoclCache, gives_a_launch_the_generic_variant_under_both_of_its_names) {
  add("k", "0-0-0");
  reuse({{"k", {1, 1, 1}, {8, 2, 1}, 0, {}}});
  EXPECT_EQ(code_of("k", "8-2-1-goffs0"), "code of 0-0-0");
  EXPECT_EQ(code_of("k", "8-2-1-goffs0-smallgrid"), "code of 0-0-0");
}

TEST_F(PoclCache, keeps_a_variant_that_is_there) {
  add("k", "0-0-0");
  add("k", "4-1-1-goffs0");
  reuse({{"k", {1, 1, 1}, {4, 1, 1}, 0, {}}});
  EXPECT_EQ(code_of("k", "4-1-1-goffs0"), "code of 4-1-1-goffs0");
  EXPECT_EQ(code_of("k", "4-1-1-goffs0-smallgrid"), "code of 0-0-0");
}

TEST_F(PoclCache, leaves_kernels_alone_that_lie_otherwise) {
  add("k", "4-1-1");
  reuse({{"k", {1, 1, 1}, {4, 1, 1}, 0, {}}, {"other", {1, 1, 1}, {1, 1, 1}, 0, {}}});
  EXPECT_FALSE(fs::exists(cache_.path() / "AB" / "CDEF" / "k" / "4-1-1-goffs0"));
  reuse_generic_variants(cache_.path() / "none", {});
}

TEST_F(PoclCache, is_cleared_of_folders_and_keeps_files) {
  add("k", "0-0-0");
  std::ofstream(cache_.path() / "lock") << "";
  clear_pocl_cache(cache_.path());
  EXPECT_FALSE(fs::exists(cache_.path() / "AB"));
  EXPECT_TRUE(fs::exists(cache_.path() / "lock"));
}

TEST_F(PoclCache, is_private_to_the_process) {
  const std::string before = environment_variable("TMPDIR");
  ::setenv("TMPDIR", cache_.path().c_str(), 1);
  const fs::path used = use_private_pocl_cache();
  before.empty() ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", before.c_str(), 1);
  EXPECT_EQ(used, cache_.path() / "pocl");
  EXPECT_TRUE(fs::is_directory(used));
  EXPECT_EQ(environment_variable("POCL_CACHE_DIR"), used.string());
}

}  // namespace
}  // namespace kw::opencl

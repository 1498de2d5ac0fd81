#include "verify/processes/toolchain_stamp.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>

#include "base/testing/scratch_directory.hpp"

namespace kw {
namespace {

namespace fs = std::filesystem;

class ToolchainStampTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(scratch.path() / "lib" / "llvm");
    for (const char* name : {"lib/libpocl.so.2", "lib/llvm/libLLVM.so", "lib/header.h", "g++"})
      std::ofstream(scratch.path() / name) << "as it was";
    spec.system = {scratch.path() / "lib"};
    spec.executable = {scratch.path() / "g++"};
    spec.program = scratch.path() / "worker";
    before = toolchain_stamp(spec);
  }
  /// In place, so that its folder does not change.
  void change(const char* name) const { std::ofstream(scratch.path() / name, std::ios::app) << " no more"; }
  ScratchDirectory scratch;
  SandboxSpec spec;
  Hash before;
};

TEST_F(ToolchainStampTest, is_the_same_as_long_as_nothing_changes) {
  EXPECT_EQ(toolchain_stamp(spec), before);
}

TEST_F(ToolchainStampTest, is_another_after_a_change_of_what_a_build_depends_on) {
  for (const char* name : {"lib/libpocl.so.2", "lib/llvm/libLLVM.so", "g++"}) {
    const Hash as_it_was = toolchain_stamp(spec);
    change(name);
    EXPECT_NE(toolchain_stamp(spec), as_it_was) << name;
  }
  const Hash as_it_was = toolchain_stamp(spec);
  std::ofstream(scratch.path() / "lib" / "llvm" / "new header.h") << "new";
  const Hash with_file = toolchain_stamp(spec);
  EXPECT_NE(with_file, as_it_was) << "a file more";
  std::ofstream(scratch.path() / "worker") << "rebuilt";
  const Hash with_worker = toolchain_stamp(spec);
  EXPECT_NE(with_worker, with_file) << "the worker";
  spec.environment = {{"OCL_ICD_VENDORS", "elsewhere"}};
  EXPECT_NE(toolchain_stamp(spec), with_worker) << "a variable";
}

TEST_F(ToolchainStampTest, of_all_of_the_system_is_that_of_its_libraries) {
  spec.system.clear();
  const Hash all = toolchain_stamp(spec);
  EXPECT_NE(all, before);
  EXPECT_EQ(toolchain_stamp(spec), all);
}

}  // namespace
}  // namespace kw

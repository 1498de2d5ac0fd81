#include "verify/checking/source_policy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kw {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(SourcePolicy, names_what_reaches_for_another_file) {
  EXPECT_EQ(forbidden_directive("#include \"/etc/hostname\"\n", "opencl"), "#include \"/etc/hostname\"");
  EXPECT_EQ(forbidden_directive("int a;\n  %:  include_next <x>", "opencl"), "#include_next <x>");
  EXPECT_EQ(forbidden_directive("#import <x> \r\n", "cuda"), "#import <x>");
  EXPECT_EQ(forbidden_directive("#embed", "cuda"), "#embed");
  EXPECT_EQ(forbidden_directive("#/**/include <x>", "cuda"), "# followed by a comment");
  EXPECT_EQ(forbidden_directive("#incl\\\nude <x>", "cuda"), "#include <x>");
  EXPECT_EQ(forbidden_directive("#define N 3\n#pragma unroll\n#\n", "cuda"), std::nullopt);
}

TEST(SourcePolicy, a_languages_own_headers_are_no_other_files) {
  EXPECT_EQ(forbidden_directive("#include <cuda_fp16.h>\r\n# include  <cuda_bf16.h> \nint a;", "cuda"), std::nullopt);
  EXPECT_EQ(forbidden_directive("#include <hip/hip_fp16.h>", "hip"), std::nullopt);
  EXPECT_EQ(forbidden_directive("#include <hip/hip_runtime.h>\n", "hip"), std::nullopt);
  EXPECT_TRUE(forbidden_directive("#include <hip/hip_runtime.h>\n", "cuda"));
  EXPECT_EQ(forbidden_directive("#include <cuda_runtime.h>  // blocks\n#include <math.h>\n", "cuda"), std::nullopt);
  EXPECT_EQ(forbidden_directive("#include <cstdint>", "hip"), std::nullopt);
  EXPECT_TRUE(forbidden_directive("#include <cstdint>", "opencl"));
  EXPECT_TRUE(forbidden_directive("#include <stdlib.h>", "cuda"));
  EXPECT_TRUE(forbidden_directive("#include <math.h", "cuda"));
  EXPECT_TRUE(forbidden_directive("#include <", "cuda"));
  EXPECT_TRUE(forbidden_directive("#include // <math.h>", "cuda"));
  EXPECT_TRUE(forbidden_directive("#include <cuda_fp16.h>", "hip"));
  EXPECT_TRUE(forbidden_directive("#include <cuda_fp16.h>", "opencl"));
  EXPECT_TRUE(forbidden_directive("#include \"cuda_fp16.h\"", "cuda")) << "could be a file of that name";
  EXPECT_TRUE(forbidden_directive("#include <cuda_fp16.h> extra", "cuda"));
  EXPECT_TRUE(forbidden_directive("#include_next <cuda_fp16.h>", "cuda"));
  EXPECT_TRUE(forbidden_directive("#include <../etc/passwd>", "cuda"));
}

TEST(SourcePolicy, a_long_directive_is_cut) {
  const auto named = forbidden_directive("#include <" + std::string(5000, 'x') + ">", "cuda");
  ASSERT_TRUE(named);
  EXPECT_EQ(named->size(), std::string("#include ").size() + 60);
}

TEST(SourcePolicy, the_message_says_what_may_be_included) {
  EXPECT_EQ(source_problem("#include <math.h>\n", "cuda"), std::nullopt);
  EXPECT_EQ(source_problem("#include <vector>\n", "opencl"),
            "the source uses #include <vector>; a bundle must contain everything it needs");
  EXPECT_EQ(
      source_problem("#include <vector>\n", "hip"),
      "the source uses #include <vector>; a bundle must contain everything it needs; it may include <hip/hip_bf16.h>, "
      "<hip/hip_cooperative_groups.h>, <hip/hip_fp16.h>, <hip/hip_runtime.h> and, of the C library, <cfloat>, "
      "<climits>, <cmath>, <cstddef>, <cstdint>, <float.h>, <limits.h>, <math.h>, <stddef.h>, <stdint.h>");
}

TEST(GuardedSource, forbids_by_name_and_keeps_the_numbers_of_lines) {
  const std::string guarded = guarded_source("__kernel void k() {}\n", "opencl");
  EXPECT_THAT(guarded, StartsWith("#pragma GCC poison include "));
  EXPECT_THAT(guarded, HasSubstr(" __asm__ "));
  EXPECT_THAT(guarded, EndsWith("\n#line 1\n__kernel void k() {}\n"));
  EXPECT_EQ(guarded_source("__global__ void k() {}", "cuda"), "__global__ void k() {}");
}

TEST(ForbiddenIdentifier, is_found_in_the_compiler_s_words) {
  EXPECT_EQ(forbidden_identifier("kernel.cl:3:1: error: use of undeclared identifier 'x'\n"), std::nullopt);
  // As PoCL and as clang write it, and from within a macro.
  for (const std::string line : {"error: kernel.cl:3:5: attempt to use a poisoned identifier\n",
                                 "kernel.cl:3:5: error: attempt to use a poisoned identifier",
                                 "error: kernel.cl:3:5 <Spelling=<scratch space>:9:1>: attempt to use a poisoned "
                                 "identifier\n"}) {
    const auto why = forbidden_identifier("kernel.cl:1:1: warning: unused\n" + line);
    ASSERT_TRUE(why) << line;
    EXPECT_THAT(*why, StartsWith("the source uses an identifier at kernel.cl:3:5 that candidates may not use"));
  }
}

}  // namespace
}  // namespace kw

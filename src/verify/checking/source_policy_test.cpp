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
  EXPECT_EQ(forbidden_directive("#/**/include <x>", "cuda"), "#include <x>");
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
  EXPECT_EQ(forbidden_directive("#include /* the C library's */ <math.h> // exp\n", "cuda"), std::nullopt);
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

TEST(SourcePolicy, finds_directives_behind_comments) {
  for (const char* source : {"/* a */ #include <x>", "/* two\nlines */ #include <x>", "int a; /*\n*/\n#/**/include <x>",
                             "// a \\  \n comment\n#include <x>", "\f\v#include <x>", "\"/*\"\n#include <x>\n\"*/\"",
                             "L'\"' \"/*\"\n#include <x>\n\"*/\"", "int a = 1'0;\n#include <x>\n'"}) {
    EXPECT_TRUE(forbidden_directive(source, "cuda")) << source;
  }
  EXPECT_EQ(forbidden_directive("// #include <x>\n/*\n#include <y>\n*/ int a;\n", "cuda"), std::nullopt);
}

TEST(SourcePolicy, refuses_what_compilers_read_in_different_ways) {
  const auto problem = [](std::string_view source) { return source_problem(std::string(source), "cuda").value_or(""); };
  constexpr const char* k_ways = ", which compilers read in different ways";
  EXPECT_EQ(problem("// a\r#include <x>\n"),
            std::string("the source uses a carriage return that does not end a line") + k_ways);
  EXPECT_EQ(problem("// a ?\?/\n#include <x>\n"), std::string("the source uses the trigraph ?\?/") + k_ways);
  EXPECT_EQ(problem("auto a = R\"(/*)\";\n"), std::string("the source uses a raw string") + k_ways);
  EXPECT_EQ(problem("int a; /* 1"), std::string("the source uses a comment that does not end") + k_ways);
  EXPECT_EQ(problem("#error don't\n"),
            std::string("the source uses a quotation mark that is not closed on its line") + k_ways);
  EXPECT_EQ(problem(std::string_view("int a;\0", 7)), std::string("the source uses a byte of zero") + k_ways);
}

TEST(SourcePolicy, refuses_what_could_hide_a_condition_where_a_simulator_compiles_anew) {
  const std::string strings = "#define S(x) #x\nint a[sizeof(S(abs))];\n";
  EXPECT_EQ(source_problem(strings, "opencl"),
            "the source uses a macro that makes strings (S), which could tell a simulator from the device");
  EXPECT_EQ(source_problem(strings, "cuda"), source_problem(strings, "opencl"));
  EXPECT_EQ(source_problem(strings, "null"), std::nullopt);
  EXPECT_EQ(source_problem("#define P(x, y) x##y\n#if P(__SP, IR__)\n#endif\n", "opencl"),
            "the source uses ## in a macro that a condition needs (P), which could tell a simulator from the device");
  EXPECT_EQ(source_problem("#define P(x, y) x##y\nP(float, 4) a;\n", "opencl"), std::nullopt);
}

TEST(GuardedSource, undefines_what_conditions_ask_for_and_the_build_does_not_define) {
  const std::string source =
      "#define WIDE (LANES > 4 && __AVX__)\n#if WIDE\n#elif defined(__SPIR__) || D == 4\n#endif\nint a = __LINE__;\n";
  const std::string guarded = guarded_source(source, "opencl", {{"D", 4}, {"LANES", 8}});
  EXPECT_THAT(guarded, HasSubstr("\n#undef WIDE\n#undef __AVX__\n#undef __SPIR__\n#pragma GCC poison "));
}

TEST(GuardedSource, undefines_what_the_compilers_say_of_themselves) {
  const std::string guarded = guarded_source("__kernel void k() {}\n", "opencl", {});
  EXPECT_THAT(guarded, StartsWith("#undef __FILE__\n"));
  for (const char* name : {"__clang_major__", "__VERSION__", "__OPENCL_C_VERSION__", "__BIGGEST_ALIGNMENT__"}) {
    EXPECT_THAT(guarded, HasSubstr(std::string("\n#undef ") + name + "\n"));
  }
}

TEST(GuardedSource, leaves_no_trace_in_the_log) {
  EXPECT_EQ(without_guard("warning: kernel.cl:1:71: poisoning existing macro\nwarning: kernel.cl:3:1: unused\n"
                          "kernel.cl:2:8: warning: undefining builtin macro [-Wbuiltin-macro-redefined]"),
            "warning: kernel.cl:3:1: unused\n");
  EXPECT_EQ(without_guard(""), "");
  EXPECT_EQ(without_guard("one\n\ntwo"), "one\n\ntwo");
}

TEST(GuardedSource, forbids_by_name_and_keeps_the_numbers_of_lines) {
  const std::string guarded = guarded_source("__kernel void k() {}\n", "opencl", {});
  EXPECT_THAT(guarded, HasSubstr("\n#pragma GCC poison include "));
  EXPECT_THAT(guarded, HasSubstr(" __asm__ "));
  EXPECT_THAT(guarded, EndsWith("\n#line 1\n__kernel void k() {}\n"));
  EXPECT_EQ(guarded_source("__global__ void k() {}", "cuda", {}), "__global__ void k() {}");
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

#include "device/sim/candidate_text.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace kw::sim {
namespace {

std::optional<std::string> forbidden(std::string_view text) {
  return forbidden_in_candidate(
      fmt::format("int __builtin_trap; {}\n# 1 \"kernel.cu\"\n{}\n# 1 \"launch\"\n{} kw_sim::x", k_candidate_begins,
                  text, k_candidate_ends));
}

TEST(CandidateText, lets_kernels_pass) {
  for (const char* text :
       {"extern \"C\" __attribute__((used, noinline, visibility(\"default\"), section(\".text.kw_kernel\"))) void k();",
        "inline __attribute__((always_inline)) float f(float x) { return x * 1'000.5e-3f; }",
        "struct __attribute__((aligned(16))) V { [[maybe_unused]] float x[4]; };",
        "#pragma unroll 4\n#pragma nounroll\n  #pragma unroll\nfor (;;) ;",
        "float y = __builtin_bit_cast(float, 0x7f800000);",
        "kw_sim_copy(a, b, 4, 7); __kw_sim_cp_async_commit(); kw_sim_barrier(kw_sim::BarrierOp::plain, 0, 3);",
        "char c = '\"'; const char* s = \"__builtin_trap \\\" [[gnu::weak]]\"; int a[b[0]];", "x[y[1]] = 'a';"}) {
    EXPECT_EQ(forbidden(text), std::nullopt) << text;
  }
}

TEST(CandidateText, names_what_could_escape) {
  EXPECT_EQ(forbidden("__attribute__((no_sanitize(\"thread\"))) void f();"), "__attribute__((no_sanitize))");
  EXPECT_EQ(forbidden("__attribute__((used)) __attribute__((section(\".init_array\"))) int a;"),
            "section(\".init_array\")");
  EXPECT_EQ(forbidden("__attribute__((section(\".text.kw_kernel\" \"2\"))) int a;"), "section(\"2\")");
  EXPECT_EQ(forbidden("[[gnu::weak]] void f();"), "[[gnu]]");
  EXPECT_EQ(forbidden("[ [using gnu: weak]] void f();"), "[[using]]");
  EXPECT_EQ(forbidden("#pragma GCC optimize(\"O0\")"), "#pragma GCC optimize(\"O0\")");
  EXPECT_EQ(forbidden("int a;\n  #pragma weak __tsan_read4"), "#pragma weak __tsan_read4");
  EXPECT_EQ(forbidden("#pragma unroller"), "#pragma unroller");
  EXPECT_EQ(forbidden("__builtin_memcpy(a, b, 4);"), "__builtin_memcpy");
  EXPECT_EQ(forbidden("__atomic_load_n(p, 0);"), "__atomic_load_n");
  EXPECT_EQ(forbidden("void __tsan_read4(void*) {}"), "__tsan_read4");
  EXPECT_EQ(forbidden("kw_sim_peek(p);"), "kw_sim_peek");
  EXPECT_EQ(forbidden("namespace kw_sim { int a; }"), "kw_sim");
  EXPECT_EQ(forbidden("kw_sim::Runtime r;"), "kw_sim");
  EXPECT_EQ(forbidden("const char* s = R\"(\")\";"), "a raw string");
  EXPECT_EQ(forbidden("__attribute__((used"), "an attribute without an end");
}

TEST(CandidateText, a_candidate_cannot_end_the_text_itself) {
  EXPECT_EQ(forbidden(std::string(k_candidate_ends) + " void __tsan_read4(void*);"), "kw_sim_candidate_ends");
  EXPECT_EQ(forbidden_in_candidate("int a;"), "no candidate");
}

TEST(CandidateText, leaves_amds_builtins_to_the_compiler_which_does_not_know_them) {
  EXPECT_EQ(forbidden("__builtin_amdgcn_s_barrier();"), std::nullopt);
}

}  // namespace
}  // namespace kw::sim

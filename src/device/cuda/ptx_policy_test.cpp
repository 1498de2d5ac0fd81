#include "device/cuda/ptx_policy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device/cuda/ptx_statements.hpp"

namespace kw::cuda {
namespace {

using ::testing::HasSubstr;

/// As NVRTC 13.0 writes a kernel that copies a number, with `body` before its store and `module` before it.
std::string ptx_with(const std::string& body, const std::string& module = "") {
  return ".version 9.0\n.target sm_90\n.address_size 64\n\n\t// .globl\tk\n" + module +
         "\n.visible .entry k(\n\t.param .u64 k_param_0\n)\n.maxntid 128, 1, 1\n{\n"
         "\t.reg .pred \t%p<2>;\n\t.reg .b32 \t%r<9>;\n\t.reg .b64 \t%rd<9>;\n"
         "\t.loc 1 3 0, function_name $L__info_string0, inlined_at 1 5 2\n"
         "\tld.param.u64 \t%rd1, [k_param_0];\n\tcvta.to.global.u64 \t%rd2, %rd1;\n\tmov.u32 \t%r1, %tid.x;\n" +
         body + "\n\tst.global.u32 \t[%rd2], %r1;\n\tret;\n}\n";
}

std::string refusal(const std::string& body, const std::string& module = "") {
  return forbidden_in_ptx(ptx_with(body, module)).value_or("");
}

TEST(PtxPolicy, lets_pass_what_stays_within_a_launch) {
  EXPECT_EQ(refusal(""), "");
  EXPECT_EQ(refusal("mov.u32 %r2, %ctaid.y; mov.u32 %r3, %laneid; mov.u32 %r4, %dynamic_smem_size;"), "");
  EXPECT_EQ(refusal("barrier.cluster.arrive; barrier.cluster.wait; mov.u32 %r2, %cluster_ctarank;"), "");
  EXPECT_EQ(refusal("@!%p1 bra $L1; bar.sync 0;\n$L1:\n{ .reg .b32 t; mov.b32 t, %r1; add.u32 %r1, t, 1; }"), "");
  EXPECT_EQ(refusal("atom.global.add.u32 %r2, [%rd2], 1;", ".extern .shared .align 16 .b8 shared[];"), "");
  EXPECT_EQ(refusal("// mov.u32 %r2, %clock;\n/* trap; */"), "");
}

TEST(PtxPolicy, refuses_clocks_and_counters_however_they_are_asked_for) {
  for (const char* name : {"clock", "clock_hi", "clock64", "globaltimer", "globaltimer_lo", "globaltimer_hi", "pm0",
                           "pm7", "pm3_64", "envreg1", "envreg31", "gridid", "current_graph_exec", "something_new"}) {
    EXPECT_THAT(refusal("mov.u32 %r2, %" + std::string(name) + ";"),
                HasSubstr("it reads the register %" + std::string(name)))
        << name;
  }
  EXPECT_THAT(refusal("mov.u32 %r2,%clock\n;"), HasSubstr("%clock"));
  EXPECT_THAT(refusal("/* a */ mov.u32 %r2, /* b */ %clock /* c */;"), HasSubstr("%clock"));
  EXPECT_THAT(refusal("@%p1 mov.u64 %rd4, %globaltimer;"), HasSubstr("%globaltimer"));
  EXPECT_THAT(refusal(".reg .b32 %clock; mov.u32 %r2, %clock;"), HasSubstr("%clock"))
      << "a name of its own is no excuse";
  EXPECT_THAT(refusal(".loc 1 2 3 mov.u32 %r2, %clock;"), HasSubstr("%clock")) << "behind what has no end";
}

TEST(PtxPolicy, refuses_wishes_about_the_cache_signals_and_traps) {
  EXPECT_THAT(refusal("createpolicy.fractional.L2::evict_last.b64 %rd3;"), HasSubstr("createpolicy asks the L2 cache"));
  EXPECT_THAT(refusal("ld.global.L2::cache_hint.u32 %r2, [%rd2], %rd3;"), HasSubstr("asks the L2 cache to keep"));
  EXPECT_THAT(refusal("prefetch.global.L2::evict_last [%rd2];"), HasSubstr("asks the L2 cache"));
  EXPECT_THAT(refusal("griddepcontrol.launch_dependents;"), HasSubstr("other launches' work"));
  EXPECT_THAT(refusal("@%p1 trap;"), HasSubstr("trap ends"));
  EXPECT_THAT(refusal("brkpt;"), HasSubstr("stops for a debugger"));
}

TEST(PtxPolicy, refuses_functions_of_the_driver_by_name) {
  const char* printing = ".extern .func  (.param .b32 func_retval0) vprintf\n(\n\t.param .b64 vprintf_param_0\n)\n;\n";
  EXPECT_THAT(refusal("", printing), HasSubstr("it uses vprintf of the driver"));
  EXPECT_THAT(refusal("", ".extern .func free\n(\n\t.param .b64 free_param_0\n)\n;"), HasSubstr("it uses free"));
  EXPECT_THAT(refusal("", ".extern .global .align 4 .u32 others;"), HasSubstr("it uses others"));
}

const std::string k_table =
    ".global .align 4 .b8 table[16] = {0, 0, 128, 63, 0, 0, 0, 64, 0, 0, 64, 64, 0, 0, 128, 64};\n";

TEST(PtxPolicy, lets_pass_tables_that_are_only_loaded_from) {
  EXPECT_EQ(refusal("ld.global.nc.u32 %r2, [table+4];", k_table), "");
  EXPECT_EQ(
      refusal("mov.u64 %rd4, table; add.s64 %rd5, %rd4, %rd3;\n$L2:\nld.global.u32 %r2, [%rd5]; mov.u64 %rd6, %rd5; "
              "add.s64 %rd5, %rd6, 4; @%p1 bra $L2;",
              k_table),
      "")
      << "as a loop over the digits of 2/pi does";
  EXPECT_EQ(refusal("ld.const.f32 %r2, [table];", ".const .align 4 .f32 table[4];"), "");
}

TEST(PtxPolicy, refuses_memory_that_could_keep_something_from_launch_to_launch) {
  const std::string counter = ".global .align 4 .u32 counter;\n";
  const char* message = "memory of its own that a launch could leave something in";
  EXPECT_THAT(refusal("st.global.u32 [counter], %r1;", counter), HasSubstr(message));
  EXPECT_THAT(refusal("atom.global.add.u32 %r2, [counter], 1;", counter), HasSubstr(message));
  EXPECT_THAT(refusal("@%p1 red.global.add.u32 [counter], 1;", counter), HasSubstr(message));
  EXPECT_THAT(refusal("mov.u64 %rd4, table; add.s64 %rd5, %rd4, 8; st.global.u32 [%rd5], %r1;", k_table),
              HasSubstr(message));
  EXPECT_THAT(refusal("$L3: st.global.u32 [%rd6], %r1; add.s64 %rd6, %rd5, 4; mov.u64 %rd5, table; bra $L3;", k_table),
              HasSubstr(message))
      << "whatever stands first";
  EXPECT_THAT(
      refusal("mov.u64 %rd4, table; cvta.const.u64 %rd5, %rd4; st.u32 [%rd5], %r1;", ".const .align 4 .f32 table[4];"),
      HasSubstr(message));
  EXPECT_THAT(refusal("mov.u64 %rd4, table; st.global.u64 [%rd2], %rd4;", k_table), HasSubstr(message))
      << "an address that is stored can come back anywhere";
  EXPECT_THAT(refusal("mov.u64 %rd4, table; xor.b64 %rd5, %rd4, %rd3; st.global.u32 [%rd5], %r1;", k_table),
              HasSubstr(message));
  EXPECT_THAT(refusal("", counter + ".global .align 8 .u64 pointer = generic(counter);"), HasSubstr(message));
  EXPECT_THAT(refusal("", ".global .attribute(.managed) .align 4 .u32 m;"), HasSubstr("memory that the host shares"));
}

TEST(PtxPolicy, refuses_what_an_assembler_could_read_in_another_way) {
  EXPECT_THAT(refusal("#define nothing mov\n"), HasSubstr("has '#', which can be read in two ways"));
  EXPECT_THAT(refusal("/* without an end"), HasSubstr("a comment that does not end"));
  EXPECT_THAT(refusal(".pragma \"a\\\"; trap; \";"), HasSubstr("a string that ends elsewhere"));
  EXPECT_THAT(refusal(".pragma \"not closed"), HasSubstr("a string that ends elsewhere"));
}

TEST(PtxStatements, end_where_the_language_ends_them) {
  const PtxText text = read_ptx(
      ".version 9.0\n.target sm_90, debug\n.file 1 \"kernel.cu\"\n.global .u32 a[2] = {1, 2};\n.visible .entry "
      "k(.param "
      ".u64 p)\n{\n.loc 1 2 3\nst.v2.u32 [%rd1+8], {%r1, %r2};\n$L1:\nret;\n}");
  std::vector<std::string> shown;
  for (const PtxStatement& statement : text.statements) {
    shown.emplace_back();
    for (const auto token : statement) shown.back() += std::string(token) + " ";
  }
  EXPECT_THAT(shown, ::testing::ElementsAre(".version 9.0 ", ".target sm_90 , debug ", ".file 1 \"\" ",
                                            ".global .u32 a [ 2 ] = { 1 , 2 } ", ".visible .entry k ( .param .u64 p ) ",
                                            ".loc 1 2 3 ", "st.v2.u32 [ %rd1 + 8 ] , { %r1 , %r2 } ", "ret "));
}

}  // namespace
}  // namespace kw::cuda

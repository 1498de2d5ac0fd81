// Mixes of instructions, of libraries that the machine's compiler makes of assembly.

#include "device/opencl/machine_code.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device/testing/compiled_library.hpp"

namespace kw::opencl {
namespace {

using testing::ElementsAre;

InstructionMix mix_of_assembly(const std::string& assembly, const std::string& more = "") {
  const auto mix = machine_code_of(compiled_library(
      more + "extern \"C\" __attribute__((naked)) void _pocl_kernel_scale_workgroup() { asm volatile(R\"(" + assembly +
      ")\"); }"));
  EXPECT_TRUE(mix) << "nothing was read";
  return mix.value_or(InstructionMix{});
}

TEST(MachineCode, is_that_of_the_innermost_loop_with_the_most_arithmetic) {
  const InstructionMix mix = mix_of_assembly(R"(
    mov $8, %rcx
  1:
    vaddss %xmm0, %xmm1, %xmm2
  2:
    vmovups (%rsi), %zmm3
    vfmadd231ps (%rdi), %zmm3, %zmm4
    vmulps %zmm4, %zmm5, %zmm6
    vmulss %xmm4, %xmm5, %xmm6
    vmovaps 64(%rsp), %zmm7
    dec %rcx
    jne 2b
    dec %rdx
    jne 1b
  3:
    vaddps %ymm0, %ymm1, %ymm2
    dec %rcx
    jne 3b
    ret)");
  EXPECT_EQ(mix.kernel, "scale");
  EXPECT_TRUE(mix.loop);
  EXPECT_EQ(mix.instructions, 7);
  EXPECT_EQ(mix.vector_floats, 2);
  EXPECT_EQ(mix.scalar_floats, 1);
  EXPECT_EQ(mix.vector_bits, 512);
  EXPECT_EQ(mix.loads_stores, 2);
  EXPECT_EQ(mix.stack_accesses, 1);
  EXPECT_EQ(mix.calls, 0);
}

TEST(MachineCode, is_all_of_it_where_no_loop_computes) {
  const InstructionMix mix = mix_of_assembly(R"(
  1:
    dec %rcx
    jne 1b
    vsqrtsd %xmm0, %xmm1, %xmm2
    ret)");
  EXPECT_FALSE(mix.loop);
  EXPECT_GE(mix.instructions, 4) << "the compiler may end the function with one of its own";
  EXPECT_EQ(mix.scalar_floats, 1);
  EXPECT_EQ(mix.vector_bits, 0);
}

/// Our kernels for CPUs leave their work to a function, which the compiler may go on in instead of calling it.
TEST(MachineCode, is_that_of_functions_that_the_kernel_leaves_its_work_to) {
  for (const char* goes : {"call work\n ret", "jmp work"}) {
    const InstructionMix mix =
        mix_of_assembly(std::string("vmulss %xmm4, %xmm5, %xmm6\n") + goes,
                        "extern \"C\" __attribute__((naked, visibility(\"hidden\"))) void work() { asm volatile(R\"(\n"
                        "1: vaddps %ymm0, %ymm1, %ymm2\n dec %rcx\n jne 1b\n call work\n ret)\"); }\n");
    EXPECT_EQ(mix.kernel, "scale");
    EXPECT_TRUE(mix.loop) << goes;
    EXPECT_EQ(mix.instructions, 3);
    EXPECT_EQ(mix.vector_floats, 1);
    EXPECT_EQ(mix.scalar_floats, 0);
    EXPECT_EQ(mix.vector_bits, 256);
  }
}

TEST(MachineCode, names_what_is_called) {
  const InstructionMix mix =
      mix_of_assembly(R"(
  1:
    vaddps %xmm0, %xmm1, %xmm2
    call expf@PLT
    call helper
    call expf@PLT
    dec %rcx
    jne 1b
    ret)",
                      "extern \"C\" { float expf(float);\n"
                      "__attribute__((visibility(\"hidden\"))) void helper() { asm(\"\"); } }\n");
  EXPECT_EQ(mix.calls, 3);
  EXPECT_THAT(mix.called, ElementsAre("expf", "helper"));
}

TEST(MachineCode, counts_a_frame_pointer_as_the_stack_where_there_is_one) {
  EXPECT_EQ(mix_of_assembly("push %rbp; mov %rsp, %rbp; 1: vaddss -8(%rbp), %xmm0, %xmm0; dec %ecx; jne 1b; ret")
                .stack_accesses,
            1);
  EXPECT_EQ(mix_of_assembly("1: vaddss -8(%rbp), %xmm0, %xmm0; dec %ecx; jne 1b; ret").stack_accesses, 0);
}

TEST(MachineCode, of_other_bytes_is_nothing) {
  EXPECT_FALSE(machine_code_of(""));
  EXPECT_FALSE(machine_code_of("no library"));
  EXPECT_FALSE(machine_code_of(compiled_library("extern \"C\" int k() { return 1; }")));
  const std::string whole = compiled_library("extern \"C\" void _pocl_kernel_k_workgroup() { asm(\"\"); }");
  ASSERT_TRUE(machine_code_of(whole));
  for (std::size_t bytes = 0; bytes < whole.size(); bytes += 97) {
    static_cast<void>(machine_code_of(std::string_view(whole).substr(0, bytes)));  // reads nothing behind the end
  }
}

}  // namespace
}  // namespace kw::opencl

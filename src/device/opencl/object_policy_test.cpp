// What is found in libraries that the machine's compiler makes of a few lines. None of them is ever loaded.

#include "device/opencl/object_policy.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "base/rng.hpp"
#include "base/testing/scratch_directory.hpp"
#include "device/opencl/instruction_policy.hpp"
#include "device/testing/compiled_library.hpp"

namespace kw::opencl {
namespace {

namespace fs = std::filesystem;

std::string found_in(const std::string& source) {
  return forbidden_in_object(compiled_library(source)).value_or("nothing");
}

/// A function that consists of one instruction.
std::string found_in_assembly(const std::string& instruction) {
  return found_in("extern \"C\" void k() { asm volatile(\"" + instruction + "\"); }");
}

constexpr const char* k_honest = R"(
extern "C" float expf(float);
extern "C" void* memcpy(void*, const void*, unsigned long);
static const float table[4] = {1, 2, 3, 4};
static const char* const words[2] = {"a", "b"};
float helper(float x) { return expf(x) * table[(int)x & 3]; }
extern "C" void k(float* a, int n) {
  for (int i = 0; i < n; ++i) a[i] = helper(a[i]) + (float)words[i & 1][0];
  memcpy(a, a + n, 64);
})";

TEST(ObjectPolicy, lets_through_what_only_computes) {
  EXPECT_EQ(found_in(k_honest), "nothing");
}

TEST(ObjectPolicy, lets_through_the_c_library_and_no_other) {
  EXPECT_EQ(forbidden_in_object(compiled_library(k_honest, "-lm -lc")), std::nullopt) << "names with versions";
  EXPECT_EQ(forbidden_in_object(compiled_library(k_honest, "-lm -lc -Wl,--no-as-needed -lgcc_s")),
            "has libgcc_s.so.1 loaded");
}

TEST(ObjectPolicy, names_a_function_of_the_process) {
  EXPECT_EQ(found_in(R"(extern "C" char* getenv(const char*); extern "C" char* k() { return getenv("HOME"); })"),
            "uses getenv, which is no built-in of OpenCL C and not defined in it");
  EXPECT_EQ(found_in(R"(extern "C" int errno_of; extern "C" int k() { return errno_of; })"),
            "uses errno_of, which is no built-in of OpenCL C and not defined in it");
}

TEST(ObjectPolicy, finds_what_runs_when_it_is_loaded) {
  constexpr const char* k_runs = "has a function that runs when it is loaded or unloaded";
  EXPECT_EQ(found_in("__attribute__((constructor)) void at_load() { asm(\"\"); }"), k_runs);
  EXPECT_EQ(found_in("__attribute__((destructor)) void at_end() { asm(\"\"); }"), k_runs);
  EXPECT_EQ(found_in("extern \"C\" void _init() {}"), k_runs);
  EXPECT_EQ(found_in("static int chosen() { return 1; }\n"
                     "extern \"C\" int (*choose())() { return chosen; }\n"
                     "extern \"C\" int k() __attribute__((ifunc(\"choose\")));"),
            "has a function, k, that is chosen when it is loaded");
}

TEST(ObjectPolicy, finds_memory_that_survives_a_launch) {
  EXPECT_EQ(found_in("long calls; extern \"C\" long k() { return ++calls; }"),
            "keeps 8 bytes of its own memory (.bss) from one launch to the next");
  EXPECT_EQ(found_in("long calls = 7; extern \"C\" long k() { return ++calls; }"),
            "keeps 8 bytes of its own memory (.data) from one launch to the next");
  EXPECT_EQ(found_in("__attribute__((section(\"mine\"))) long calls = 7; extern \"C\" long k() { return ++calls; }"),
            "keeps 8 bytes of its own memory (mine) from one launch to the next");
  EXPECT_NE(found_in("thread_local long calls; extern \"C\" long k() { return ++calls; }"), "nothing");
}

TEST(ObjectPolicy, names_an_instruction_with_its_address) {
  EXPECT_EQ(found_in_assembly("syscall").substr(0, 60), "holds an instruction that kernels may not use: syscall at 0x");
  for (const char* instruction :
       {"sysenter",      "int $0x80",     "int3",           "rdtsc",           "rdtscp",
        "rdpmc",         "rdfsbase %rax", "wrfsbase %rax",  "rdrand %eax",     "rdseed %eax",
        "cpuid",         "xgetbv",        "clflush (%rax)", "mov %fs:0, %rax", "mov %rax, %gs:8",
        "mov %fs, %eax", "hlt",           "stmxcsr (%rsp)", "vldmxcsr (%rsp)", "pushfq"}) {
    const std::string found = found_in_assembly(instruction);
    const std::string word = std::string(instruction).substr(0, std::string(instruction).find(' '));
    EXPECT_NE(found.find("may not use: " + word), std::string::npos) << instruction << ": " << found;
  }
}

TEST(ObjectPolicy, steps_over_vector_instructions_that_the_disassembler_does_not_know) {
  constexpr const char* k_vaddph = ".byte 0x62, 0xf5, 0x7c, 0x48, 0x58, 0x44, 0x24, 0x01";  // AVX512-FP16, with disp8
  EXPECT_EQ(found_in_assembly(k_vaddph), "nothing");
  EXPECT_NE(found_in_assembly(std::string(k_vaddph) + "; rdtsc").find("rdtsc"), std::string::npos);
  EXPECT_NE(found_in_assembly(".byte 0x06").find("which cannot be read, at 0x"), std::string::npos);
}

TEST(ObjectPolicy, knows_how_long_vector_instructions_are) {
  const auto bytes = [](std::initializer_list<int> code) {
    return vector_instruction_bytes(std::string(code.begin(), code.end()));
  };
  EXPECT_EQ(bytes({0xc5, 0xf8, 0x77}), 3U) << "vzeroupper";
  EXPECT_EQ(bytes({0xc5, 0xf8, 0x58, 0xc1}), 4U) << "vaddps xmm0, xmm0, xmm1";
  EXPECT_EQ(bytes({0xc5, 0xf8, 0x58, 0x44, 0x24, 0x08}), 6U) << "vaddps xmm0, xmm0, [rsp + 8]";
  EXPECT_EQ(bytes({0xc5, 0xf8, 0x58, 0x05, 1, 0, 0, 0}), 8U) << "vaddps xmm0, xmm0, [rip + 1]";
  EXPECT_EQ(bytes({0xc5, 0xf8, 0xc6, 0xc1, 0x1b}), 5U) << "vshufps xmm0, xmm0, xmm1, 27";
  EXPECT_EQ(bytes({0xc4, 0xe3, 0x7d, 0x19, 0xc1, 0x01}), 6U) << "vextractf128 xmm1, ymm0, 1";
  EXPECT_EQ(bytes({0x62, 0xf1, 0x7c, 0x48, 0x58, 0x80, 0, 1, 0, 0}), 10U) << "vaddps zmm0, zmm0, [rax + 256]";
  EXPECT_EQ(bytes({0x62, 0xf1, 0x7c, 0x48, 0x58, 0x80, 0, 1}), 0U) << "cut off";
  EXPECT_EQ(bytes({0x0f, 0x05}), 0U);
}

TEST(ObjectPolicy, refuses_what_is_damaged) {
  EXPECT_EQ(forbidden_in_object(""), "is no shared library");
  EXPECT_EQ(forbidden_in_object("\177ELF"), "is no shared library");
  const std::string whole = compiled_library(k_honest);
  for (std::size_t size = 0; size < whole.size(); size += 97) {
    EXPECT_TRUE(forbidden_in_object(whole.substr(0, size)).has_value()) << size << " bytes";
  }
  // Whatever bits are wrong: an answer, and no access outside (sanitizers watch this).
  Rng rng(20261122);
  for (int round = 0; round < 2000; ++round) {
    std::string damaged = whole;
    char& byte = damaged[static_cast<std::size_t>(rng.below(std::ssize(damaged)))];
    byte = static_cast<char>(byte ^ (1 << rng.below(8)));
    (void)forbidden_in_object(damaged);
  }
}

TEST(ObjectPolicy, looks_through_all_kernels_of_a_cache) {
  const ScratchDirectory cache;
  EXPECT_EQ(forbidden_in_cache(cache.path()), std::nullopt);
  const fs::path folder = cache.path() / "AB" / "CDEF";
  for (const auto& [name, source] :
       {std::pair{"good", k_honest}, std::pair{"bad", "long calls; long k() { return ++calls; }"}}) {
    fs::create_directories(folder / name / "0-0-0");
    std::ofstream(folder / name / "0-0-0" / (std::string(name) + ".so"), std::ios::binary) << compiled_library(source);
  }
  EXPECT_EQ(forbidden_in_cache(cache.path()),
            "what the compiler made of kernel bad keeps 8 bytes of its own memory (.bss) from one launch to the next");
  fs::remove_all(folder / "bad");
  EXPECT_EQ(forbidden_in_cache(cache.path()), std::nullopt);
  EXPECT_NE(forbidden_in_cache(cache.path() / "none"), std::nullopt);
}

}  // namespace
}  // namespace kw::opencl

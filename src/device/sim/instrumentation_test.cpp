// What a compiler made with and without instrumentation, told apart in the object file.

#include "device/sim/instrumentation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file_system.hpp"
#include "base/testing/scratch_directory.hpp"
#include "device/sim/child_program.hpp"
#include "device/sim/compile.hpp"

namespace kw::sim {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;

/// As the simulator's compiler is called.
std::optional<std::string> judged(const std::string& source) {
  const ScratchDirectory directory;
  const std::string text = (directory.path() / "a.cpp").string();
  const std::string object = (directory.path() / "a.o").string();
  RealFileSystem files;
  EXPECT_TRUE(files.write_atomic(text, source));
  const auto end = run_program({find_host_compiler(), "-O1", "-std=c++20", "-fPIC", "-fno-exceptions", "-w",
                                "-fsanitize=thread,alignment", "-c", text, "-o", object},
                               1 << 16);
  EXPECT_TRUE(end && end->status == 0) << (end ? end->output : end.error().to_string());
  return uninstrumented(files.read(object, 1 << 24).value());
}

TEST(Instrumentation, is_found_where_it_is) {
  EXPECT_EQ(judged("extern \"C\" void f(const int* in, int* out, int n) { out[n] = in[n]; }"), std::nullopt);
  EXPECT_EQ(judged("int count; int f() { return ++count; }"), std::nullopt);
}

TEST(Instrumentation, is_not_needed_for_stack_constants_and_large_results) {
  EXPECT_EQ(judged("float f(int i) { static const float t[5] = {1, 2, 3, 4, 7}; return t[i]; }"), std::nullopt);
  EXPECT_EQ(judged("struct Big { float v[16]; };\n"
                   "__attribute__((noinline)) Big f(float x) { Big b; for (int i = 0; i < 16; ++i) b.v[i] = x * i; "
                   "return b; }"),
            std::nullopt);
  EXPECT_EQ(judged("float f(int n) { float v[16]; for (int i = 0; i < 16; ++i) v[i] = i * n; float s = 0; "
                   "for (int i = 0; i < n; ++i) s += v[i]; return s; }"),
            std::nullopt);
  EXPECT_EQ(
      judged("int f(int i) { switch (i) { case 0: return 9; case 1: return 4; case 2: return 25; case 3: return 7; "
             "case 4: return 3; case 5: return 99; } return 0; }"),
      std::nullopt);
}

TEST(Instrumentation, is_missed_where_a_function_has_none) {
  constexpr auto k_plain = "__attribute__((no_sanitize(\"thread\"))) ";
  EXPECT_THAT(judged(std::string(k_plain) + "float f(const float* in, int n) { return in[n]; }"),
              Optional(HasSubstr("reaches memory")));
  EXPECT_THAT(judged(std::string(k_plain) + "void f(int n, float* out) { out[n] = 0; }"),
              Optional(HasSubstr("where the simulator does not see it")));
  EXPECT_THAT(judged(std::string("int count; ") + k_plain + "int f() { return ++count; }"),
              Optional(HasSubstr("reaches memory")));
}

TEST(Instrumentation, names_of_the_machine_and_of_the_simulator_are_refused) {
  EXPECT_EQ(judged("extern \"C\" int system(const char*); int f() { return system(\"true\"); }"),
            "needs system, which is no function of kernels");
  EXPECT_EQ(judged("extern \"C\" float expf(float); float f(float x) { return expf(x); }"), std::nullopt);
  EXPECT_THAT(judged("extern \"C\" __attribute__((weak, used)) void __tsan_write4(void*) {}"),
              Optional(HasSubstr("defines __tsan_write4")));
  EXPECT_THAT(
      judged("extern \"C\" { static void* choose() { return nullptr; } void f() __attribute__((ifunc(\"choose\"))); "
             "}"),
      Optional(HasSubstr("that is chosen when it is loaded")));
}

TEST(Instrumentation, sections_of_its_own_are_refused) {
  EXPECT_THAT(judged("__attribute__((section(\".unusual\"), used)) int a = 1;"),
              Optional(std::string("has a section of its own, .unusual")));
  EXPECT_EQ(judged("int a = 1; const int b[4] = {1}; int c[9];"), std::nullopt);
}

TEST(Instrumentation, damaged_files_are_no_objects) {
  EXPECT_EQ(uninstrumented("no object"), "cannot be read");
  EXPECT_EQ(uninstrumented(""), "cannot be read");
}

}  // namespace
}  // namespace kw::sim

// The null device's directives as text.

#include "device/null/program.hpp"

#include <gtest/gtest.h>

namespace kw {
namespace {

TEST(NullProgram, reads_every_directive_with_its_operands) {
  const auto program = parse_null_program(R"(# a comment
at_build exit
kernel first 3   # takes three arguments
fill O 0.5
copy Q O
modify_input Q
touch_guard O -4
spin_us 10
claim_ns 7
allocate 512MiB
fork 2
exec /bin/true
write_file /tmp/x

kernel second
hang
sleep_until_killed
crash
abort
exit
garbage_reply
)");
  ASSERT_TRUE(program) << program.error().to_string();
  EXPECT_EQ(program->at_build, "exit");
  ASSERT_EQ(program->kernels.size(), 2U);
  const NullKernel& first = program->kernels[0];
  EXPECT_EQ(first.arguments, 3);
  ASSERT_EQ(first.body.size(), 10U);
  EXPECT_EQ(first.body[0].text, "O");
  EXPECT_EQ(first.body[0].value, 0.5);
  EXPECT_EQ(first.body[1].text, "Q");
  EXPECT_EQ(first.body[1].second_text, "O");
  EXPECT_EQ(first.body[3].number, -4);
  EXPECT_EQ(first.body[4].number, 10);
  EXPECT_EQ(first.body[5].number, 7);
  EXPECT_EQ(first.body[6].number, std::int64_t{512} << 20);
  EXPECT_EQ(first.body[8].text, "/bin/true");
  EXPECT_EQ(program->kernels[1].arguments, -1);
  EXPECT_EQ(program->kernels[1].body.size(), 6U);
}

TEST(NullProgram, finds_kernels_by_name) {
  const auto program = parse_null_program("kernel a\nkernel b\n");
  ASSERT_TRUE(program);
  EXPECT_EQ(program->find("b"), &program->kernels[1]);
  EXPECT_EQ(program->find("c"), nullptr);
}

TEST(NullProgram, reads_sizes_in_units_of_1024) {
  const auto program = parse_null_program("kernel k\nallocate 3\nallocate 3KiB\nallocate 2GiB\n");
  ASSERT_TRUE(program);
  EXPECT_EQ(program->kernels[0].body[0].number, 3);
  EXPECT_EQ(program->kernels[0].body[1].number, 3072);
  EXPECT_EQ(program->kernels[0].body[2].number, std::int64_t{2} << 30);
}

class WrongNullProgram : public ::testing::TestWithParam<const char*> {};

TEST_P(WrongNullProgram, is_refused_with_its_line) {
  const std::string line = GetParam();
  const auto program = parse_null_program("# one comment above\n" + line + "\n");
  ASSERT_FALSE(program) << line;
  EXPECT_EQ(program.error().code.name, errc::null_syntax.name);
  EXPECT_EQ(program.error().where.line, 2);
  EXPECT_EQ(program.error().message, "the null device does not understand '" + line + "'");
}

INSTANTIATE_TEST_SUITE_P(BeforeAnyKernel, WrongNullProgram,
                         ::testing::Values("dance", "fill O 1", "at_build dance", "at_build", "kernel", "kernel a -1",
                                           "kernel a b", "kernel a 1 2", "hang"));

TEST(NullProgram, refuses_directives_with_the_wrong_operands) {
  for (const std::string line :
       {"fill O", "fill O x", "copy Q", "copy Q O K", "touch_guard O x", "spin_us", "spin_us 1x", "allocate -1",
        "allocate 1TiB", "allocate 99999999GiB", "fork", "exec", "hang now", "at_build crash", "dance"}) {
    const auto program = parse_null_program("kernel k\n" + line + "\n");
    ASSERT_FALSE(program) << line;
    EXPECT_EQ(program.error().where.line, 2) << line;
  }
}

}  // namespace
}  // namespace kw

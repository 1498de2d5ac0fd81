#include "device/sim/program.hpp"

#include <gtest/gtest.h>

#include "device/device.hpp"

namespace kw::sim {
namespace {

constexpr const char* k_table = R"(
k.so:     file format elf64-x86-64

File name                            Line number    Starting address    View    Stmt
kernel.cu                                      2              0x109e               x
kernel.cu                                      5              0x10af               x
math.cuh                                      12              0x10b8               x
kernel.cu                                      7              0x112d
kernel.cu                                      -              0x1140
)";

TEST(Program, line_of_an_address_is_the_candidates_line_before_it) {
  const Program program{"", parse_line_table(k_table, "kernel.cu")};
  EXPECT_EQ(program.line_at(0x1000), 0);
  EXPECT_EQ(program.line_at(0x109e), 2);
  EXPECT_EQ(program.line_at(0x10ba), 5) << "code of ours that was inlined belongs to the line that calls it";
  EXPECT_TRUE(program.is_inlined_at(0x10ba));
  EXPECT_FALSE(program.is_inlined_at(0x10b0));
  EXPECT_FALSE(program.is_inlined_at(0x1000));
  EXPECT_EQ(program.line_at(0x1130), 7);
  EXPECT_EQ(program.line_at(0x1150), 0) << "behind the end of the code";
}

TEST(Program, survives_its_encoding) {
  const Program program{"object", parse_line_table(k_table, "kernel.cu")};
  const auto decoded = decode_program(encode(program));
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(decoded->object, "object");
  EXPECT_EQ(decoded->lines.size(), 5U);
  EXPECT_TRUE(decoded->is_inlined_at(0x10ba));
  EXPECT_EQ(decoded->line_at(0x10ba), 5);
  EXPECT_EQ(decoded->line_at(0x10af), 5);
}

TEST(Program, refuses_bytes_that_are_no_program) {
  const std::string encoded = encode({"object", parse_line_table(k_table, "kernel.cu")});
  for (const std::string& bytes : {std::string(), std::string("kw-sim-1"), encoded.substr(0, 20),
                                   std::string("kw-sim-1") + std::string(8, '\xff')}) {
    const auto decoded = decode_program(bytes);
    ASSERT_FALSE(decoded.has_value());
    EXPECT_EQ(decoded.error().code, errc::device_refused);
    EXPECT_EQ(decoded.error().message, "this is not a program for the simulator");
  }
}

}  // namespace
}  // namespace kw::sim

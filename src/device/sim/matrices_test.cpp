// The matrix instructions against a plain product, with fragments filled by the formulas of the PTX ISA as they stand
// there, element by element, and not as matrices.cpp turns them into loops.

#include "device/sim/matrices.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/rng.hpp"
#include "device/sim/runtime/numbers.hpp"

namespace kw::sim {
namespace {

constexpr int k_m = 16;
constexpr int k_n = 8;

struct Case {
  int depth;
  float a[k_m][16];
  float b[16][k_n];
  float c[k_m][k_n];
};

float random_float(Rng& rng) {
  return static_cast<float>(static_cast<std::int64_t>(rng.next() % 2001) - 1000) / 512.0F;
}

template <typename Round>
Case random_case(std::uint64_t seed, int depth, Round round) {
  Rng rng(seed);
  Case one{};
  one.depth = depth;
  for (auto& row : one.a) {
    for (float& x : row) x = round(random_float(rng));
  }
  for (auto& row : one.b) {
    for (float& x : row) x = round(random_float(rng));
  }
  for (auto& row : one.c) {
    for (float& x : row) x = random_float(rng);
  }
  return one;
}

struct Registers {
  std::uint32_t operands[32][6] = {};
  float d[32][4] = {};
  LaneOperands lanes{};
  LaneAccumulators accumulators{};
  Registers() {
    for (std::size_t lane = 0; lane < 32; ++lane) {
      lanes[lane] = operands[lane];
      accumulators[lane] = d[lane];
    }
  }
};

/// c and d of all shapes with 32-bit accumulators: row = groupID for c0, c1 and groupID + 8 for c2, c3;
/// col = threadID_in_group * 2 + (i & 1).
void fill_c(const Case& one, Registers& registers) {
  for (int lane = 0; lane < 32; ++lane) {
    const int group = lane >> 2;
    const int in_group = lane % 4;
    for (int i = 0; i < 4; ++i) {
      const int row = i < 2 ? group : group + 8;
      registers.d[lane][i] = one.c[row][in_group * 2 + (i & 1)];
    }
  }
}

void expect_product(const Case& one, const Registers& registers) {
  for (int lane = 0; lane < 32; ++lane) {
    const int group = lane >> 2;
    const int in_group = lane % 4;
    for (int i = 0; i < 4; ++i) {
      const int row = i < 2 ? group : group + 8;
      const int column = in_group * 2 + (i & 1);
      float expected = one.c[row][column];
      for (int k = 0; k < one.depth; ++k) expected += one.a[row][k] * one.b[k][column];
      EXPECT_EQ(registers.d[lane][i], expected) << "lane " << lane << " register " << i;
    }
  }
}

/// m16n8k16 with 16-bit types: a0..a7 and b0..b3 are elements, two per register.
template <typename Narrow>
void fill_16_bits(const Case& one, Registers& registers, Narrow narrow) {
  for (int lane = 0; lane < 32; ++lane) {
    const int group = lane >> 2;
    const int in_group = lane % 4;
    for (int i = 0; i < 8; ++i) {
      const bool first_rows = (0 <= i && i < 2) || (4 <= i && i < 6);
      const int row = first_rows ? group : group + 8;
      const int column = i < 4 ? in_group * 2 + (i & 1) : in_group * 2 + (i & 1) + 8;
      const std::uint32_t bits = narrow(one.a[row][column]);
      registers.operands[lane][i / 2] |= bits << (16 * (i % 2));
    }
    for (int i = 0; i < 4; ++i) {
      const int row = i < 2 ? in_group * 2 + (i & 1) : in_group * 2 + (i & 1) + 8;
      const std::uint32_t bits = narrow(one.b[row][group]);
      registers.operands[lane][4 + i / 2] |= bits << (16 * (i % 2));
    }
  }
}

std::uint16_t to_half(float x) {
  return kw_sim::narrow(static_cast<double>(x), kw_sim::k_half, kw_sim::Rounding::nearest_even);
}
std::uint16_t to_bfloat16(float x) {
  return kw_sim::narrow(static_cast<double>(x), kw_sim::k_bfloat16, kw_sim::Rounding::nearest_even);
}

TEST(Matrices, multiply_halves_by_the_fragment_layout_of_m16n8k16) {
  const Case one = random_case(1, 16, [](float x) { return kw_sim::widen_half(to_half(x)); });
  Registers registers;
  fill_16_bits(one, registers, to_half);
  fill_c(one, registers);
  multiply_f16(registers.lanes, registers.accumulators);
  expect_product(one, registers);
}

TEST(Matrices, multiply_bfloat16_by_the_same_layout) {
  const Case one = random_case(2, 16, [](float x) { return kw_sim::widen_bfloat16(to_bfloat16(x)); });
  Registers registers;
  fill_16_bits(one, registers, to_bfloat16);
  fill_c(one, registers);
  multiply_bf16(registers.lanes, registers.accumulators);
  expect_product(one, registers);
}

TEST(Matrices, multiply_tf32_by_the_fragment_layout_of_m16n8k8_and_ignore_the_low_bits) {
  const Case one = random_case(3, 8, [](float x) { return kw_sim::round_to_tf32(x); });
  Registers registers;
  for (int lane = 0; lane < 32; ++lane) {
    const int group = lane >> 2;
    const int in_group = lane % 4;
    for (int i = 0; i < 4; ++i) {
      const int row = i == 0 || i == 2 ? group : group + 8;
      const int column = i == 0 || i == 1 ? in_group : in_group + 4;
      registers.operands[lane][i] = kw_sim::bits_of(one.a[row][column]) | 0x1fffU;
    }
    for (int i = 0; i < 2; ++i) {
      const int row = i == 0 ? in_group : in_group + 4;
      registers.operands[lane][4 + i] = kw_sim::bits_of(one.b[row][group]) | 0x1fffU;
    }
  }
  fill_c(one, registers);
  multiply_tf32(registers.lanes, registers.accumulators);
  expect_product(one, registers);
}

TEST(Matrices, load_rows_or_columns_of_8x8_matrices) {
  std::uint16_t elements[4][8][8];
  MatrixRows rows{};
  for (std::size_t m = 0; m < 4; ++m) {
    for (std::size_t r = 0; r < 8; ++r) {
      for (std::size_t c = 0; c < 8; ++c) elements[m][r][c] = static_cast<std::uint16_t>(m * 100 + r * 10 + c);
      rows[8 * m + r] = elements[m][r];
    }
  }
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (int m = 0; m < 4; ++m) {
      const unsigned row = lane / 4;
      const unsigned column = lane % 4 * 2;
      EXPECT_EQ(matrix_register(rows, m, lane, false),
                elements[m][row][column] | static_cast<unsigned>(elements[m][row][column + 1]) << 16);
      EXPECT_EQ(matrix_register(rows, m, lane, true),
                elements[m][column][row] | static_cast<unsigned>(elements[m][column + 1][row]) << 16);
    }
  }
}

}  // namespace
}  // namespace kw::sim

#include "device/sim/matrices.hpp"

#include "device/sim/runtime/numbers.hpp"

namespace kw::sim {
namespace {

constexpr unsigned k_rows = 16;
constexpr unsigned k_columns = 8;

template <unsigned Depth>
struct Operands {
  float a[k_rows][Depth];
  float b[Depth][k_columns];
};

template <unsigned Depth>
void multiply(const Operands<Depth>& operands, const LaneAccumulators& d) {
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned i = 0; i < 4; ++i) {
      const unsigned row = lane / 4 + 8 * (i / 2);
      const unsigned column = 2 * (lane % 4) + i % 2;
      float sum = d[lane][i];
      for (unsigned k = 0; k < Depth; ++k) sum += operands.a[row][k] * operands.b[k][column];
      d[lane][i] = sum;
    }
  }
}

template <typename Widen>
void multiply_16_bits(const LaneOperands& registers, const LaneAccumulators& d, Widen widen) {
  Operands<16> operands;
  for (unsigned lane = 0; lane < 32; ++lane) {
    const unsigned group = lane / 4;
    const unsigned pair = lane % 4;
    for (unsigned half = 0; half < 2; ++half) {
      const auto element = [&](unsigned index) {
        return widen(static_cast<unsigned short>(registers[lane][index] >> (16 * half)));
      };
      for (unsigned i = 0; i < 4; ++i) {
        operands.a[group + 8 * (i % 2)][2 * pair + half + 8 * (i / 2)] = element(i);
      }
      for (unsigned i = 0; i < 2; ++i) operands.b[2 * pair + half + 8 * i][group] = element(4 + i);
    }
  }
  multiply(operands, d);
}

}  // namespace

void multiply_f16(const LaneOperands& operands, const LaneAccumulators& d) {
  multiply_16_bits(operands, d, kw_sim::widen_half);
}

void multiply_bf16(const LaneOperands& operands, const LaneAccumulators& d) {
  multiply_16_bits(operands, d, kw_sim::widen_bfloat16);
}

void multiply_tf32(const LaneOperands& operands, const LaneAccumulators& d) {
  Operands<8> gathered;
  for (unsigned lane = 0; lane < 32; ++lane) {
    const unsigned group = lane / 4;
    const unsigned pair = lane % 4;
    for (unsigned i = 0; i < 4; ++i) {
      gathered.a[group + 8 * (i % 2)][pair + 4 * (i / 2)] = kw_sim::read_as_tf32(operands[lane][i]);
    }
    for (unsigned i = 0; i < 2; ++i) gathered.b[pair + 4 * i][group] = kw_sim::read_as_tf32(operands[lane][4 + i]);
  }
  multiply(gathered, d);
}

std::uint32_t matrix_register(const MatrixRows& rows, int matrix, unsigned lane, bool transposed) {
  const auto first = static_cast<std::size_t>(8 * matrix);
  const unsigned outer = lane / 4;
  const unsigned inner = 2 * (lane % 4);
  const std::uint32_t low = transposed ? rows[first + inner][outer] : rows[first + outer][inner];
  const std::uint32_t high = transposed ? rows[first + inner + 1][outer] : rows[first + outer][inner + 1];
  return high << 16 | low;
}

}  // namespace kw::sim

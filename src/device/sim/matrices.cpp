#include "device/sim/matrices.hpp"

#include "device/sim/runtime/numbers.hpp"

namespace kw::sim {
namespace {

constexpr unsigned k_rows = 16;
constexpr unsigned k_columns = 8;

/// The columns of a row, on which the compiler works at once.
using Row __attribute__((vector_size(k_columns * sizeof(float)))) = float;

template <unsigned Depth>
struct Operands {
  float a[k_rows][Depth];
  Row b[Depth];
};

/// Where a lane's accumulator i lies.
constexpr unsigned row_of(unsigned lane, unsigned i) {
  return lane / 4 + 8 * (i / 2);
}
constexpr unsigned column_of(unsigned lane, unsigned i) {
  return 2 * (lane % 4) + i % 2;
}

/// Every sum goes in the order of k.
template <unsigned Depth>
void multiply(const Operands<Depth>& operands, const LaneAccumulators& d) {
  Row sums[k_rows];
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned i = 0; i < 4; ++i) sums[row_of(lane, i)][column_of(lane, i)] = d[lane][i];
  }
  for (unsigned row = 0; row < k_rows; ++row) {
    Row sum = sums[row];
    for (unsigned k = 0; k < Depth; ++k) sum += operands.a[row][k] * operands.b[k];
    sums[row] = sum;
  }
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned i = 0; i < 4; ++i) d[lane][i] = sums[row_of(lane, i)][column_of(lane, i)];
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
  multiply_16_bits(operands, d, [](unsigned short bits) { return kw_sim::widen_half(bits); });
}

void multiply_bf16(const LaneOperands& operands, const LaneAccumulators& d) {
  multiply_16_bits(operands, d, [](unsigned short bits) { return kw_sim::widen_bfloat16(bits); });
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
  const auto first = 8 * static_cast<std::size_t>(matrix);
  const unsigned outer = lane / 4;
  const unsigned inner = 2 * (lane % 4);
  const std::uint32_t low = transposed ? rows[first + inner][outer] : rows[first + outer][inner];
  const std::uint32_t high = transposed ? rows[first + inner + 1][outer] : rows[first + outer][inner + 1];
  return high << 16 | low;
}

}  // namespace kw::sim

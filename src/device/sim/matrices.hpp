#pragma once
// The matrix instructions of a warp on the registers of its 32 lanes, by the fragment layouts of the PTX ISA
// ("Matrix Fragments for mma.m16n8k16", "mma.m16n8k8", "ldmatrix"). With group = lane / 4 and pair = lane % 4:
//
//   m16n8k16, 16-bit types, two elements per register, the lower half first
//     a0: row group,     k 2 pair, 2 pair + 1        a1: row group + 8, the same k
//     a2: row group,     k 2 pair + 8, 2 pair + 9    a3: row group + 8, the same k
//     b0: k 2 pair, 2 pair + 1, column group         b1: k 2 pair + 8, 2 pair + 9, column group
//   m16n8k8, tf32
//     a0: row group, k pair    a1: row group + 8, k pair    a2: row group, k pair + 4    a3: row group + 8, k pair + 4
//     b0: k pair, column group    b1: k pair + 4, column group
//   d0, d1: row group, columns 2 pair, 2 pair + 1    d2, d3: row group + 8, the same columns

#include <array>
#include <cstdint>

namespace kw::sim {

/// Per lane: four registers of a, two of b; and the accumulators, read and written.
using LaneOperands = std::array<const std::uint32_t*, 32>;
using LaneAccumulators = std::array<float*, 32>;

/// Products are exact; each is added in float to what the accumulator holds, in the order of k.
void multiply_f16(const LaneOperands& operands, const LaneAccumulators& d);
void multiply_bf16(const LaneOperands& operands, const LaneAccumulators& d);
void multiply_tf32(const LaneOperands& operands, const LaneAccumulators& d);

/// ldmatrix: `rows[8 * m + r]` is row r of matrix m, eight 16-bit elements. Lane L receives elements 2 (L % 4) and
/// 2 (L % 4) + 1 of row L / 4, transposed: of column L / 4.
using MatrixRows = std::array<const std::uint16_t*, 32>;
[[nodiscard]] std::uint32_t matrix_register(const MatrixRows& rows, int matrix, unsigned lane, bool transposed);

}  // namespace kw::sim

#pragma once
// Standard normal numbers, many at a time: the data of every timed launch are drawn anew, and Rng::normal() takes ten
// times as long for one. Each number depends on a key and on its place alone, so that threads, and processors that have
// the tables below, draw any part of a sequence in any order and agree in every bit.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace kw {

/// Fills `values` with the independent standard normal numbers `first`, `first` + 1, ... of the sequence of `key`. The
/// quantiles of 4096 equally likely cells are exact, and a number is uniform within its cell. What falls into one of
/// the two outermost cells is drawn from 4096 cells of that tail, and of these the outermost is divided once more:
/// one number in 34e9 should lie farther out than 6.65, and none lies farther out than 6.76.
void fill_normal(std::span<float> values, std::uint64_t key, std::uint64_t first = 0);

/// A number in it is low + (f + 0.5) / 2^20 * width for an integer f below 2^20, each operation rounded by itself.
struct NormalCell {
  float low = 0;
  float width = 0;
};
inline constexpr std::size_t k_normal_cells = 4096;
/// What a sequence is made with, for code that makes the same elsewhere (verify/processes/number_kernels.cu).
struct NormalTables {
  std::array<NormalCell, k_normal_cells> all;   ///< the outermost two are not used
  std::array<NormalCell, k_normal_cells> tail;  ///< of the upper tail, which the last cell of `all` is; its last is not
  std::array<NormalCell, k_normal_cells> far;   ///< of the last cell of `tail`
};
[[nodiscard]] const NormalTables& normal_tables();

}  // namespace kw

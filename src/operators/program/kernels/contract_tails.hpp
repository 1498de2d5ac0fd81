#pragma once
// Reductions of what a contraction computes that its kernel does itself, so that nobody writes the sums to memory and
// reads them again: over all rows, such as the channels of a convolution, over windows of pixels that lie side by side,
// as pooling has them, and over all pixels of a row. kernels/program/tails.cu has the texts.

#include <cstdint>
#include <optional>
#include <string>

#include "operators/program/kernels/contraction.hpp"
#include "operators/program/kernels/program_bundle.hpp"

namespace kw {

/// What is reduced of the sums, where a tile has all of it or a launch more joins what the tiles have left.
enum class TailKind : std::uint8_t {
  rows,     ///< all rows: each tile of rows leaves a number for each column
  windows,  ///< of pixels, each in one tile of patches
  pixels,   ///< all pixels of a row: each tile of patches leaves a number for each row
};
/// And what becomes of the result.
struct ContractTail {
  TailKind kind = TailKind::rows;
  Stage reduction;     ///< as it was
  StageExpr epilogue;  ///< the same by axes of the contraction, and by those below; absent: the result itself
  // Of windows: how many lines and columns one has, and the axes that count windows. Without a name: as the pixels.
  std::int64_t lines = 1, columns = 1;
  StageAxis line, column;
  // Of pixels: the last axes that a tile has one index of and that are reduced too.
  StageAxes planes;
};

/// The contraction's stage ends with the number that is reduced, or, of the largest or least one, with another that
/// rises and falls with it, where that is less to compute; its buffer, output and places are the reduction's.
struct TailedContraction {
  Contraction contraction;
  ContractTail tail;
};

/// How an index of the product's buffer moves with the axes of the reduction.
struct TailIndex {
  std::string kept;        ///< an axis of the result; empty: there is none
  std::string reduced;     ///< an inner axis; empty: there is none
  std::int64_t count = 1;  ///< of a window
};

/// Of the product's axes. Absent where the reduction reads more than the product's sums, has conditions, or is none of
/// sums, largest and least numbers of windows that lie side by side.
[[nodiscard]] std::optional<std::vector<TailIndex>> tail_indices(const Stage& product, const Stage& reduction);

/// Of two stages of which the second one reads the first one's buffer; absent where it is no such reduction.
[[nodiscard]] std::optional<TailedContraction> tailed_contraction(const Stage& product, const Stage& reduction);

/// Windows of pixels over several planes, such as those of three axes, as windows in each plane and what is reduced of
/// these: a tail, and a quarter of what the contraction computes or less goes through memory.
struct WindowsOfPlanes {
  Stage in_planes;  ///< writes `buffer`
  Stage of_planes;  ///< a map that writes what the reduction did
};
/// Absent where the reduction is no such, or all of it lies in one plane.
[[nodiscard]] std::optional<WindowsOfPlanes> windows_of_planes(const Stage& product, const Stage& reduction,
                                                               std::size_t buffer);

/// Whether the kernel of the contraction in GPU languages is to do the reduction: the way in which the program's
/// contractions are multiplied allows it.
[[nodiscard]] bool takes_tail(const GroupContext& context, const TailedContraction& tailed);

}  // namespace kw

#pragma once
// How the elements of a tile are spread over the threads of a block on a GPU.

#include <string>

#include "operators/program/kernels/contract_shape.hpp"

namespace kw {

/// What a thread loads together.
enum class TileRun : std::uint8_t {
  one,    ///< an element
  steps,  ///< four neighbouring steps of a row or column
  lines,  ///< four neighbouring rows or columns of a step
};

/// Expressions in CUDA C++, for the `i`th register of a thread that holds an element of the tile, or where a run of
/// four begins with it.
struct TileOrder {
  std::string at;     ///< a number that the others are made of
  std::string valid;  ///< a condition on `at`: whether the tile has such a run; empty: always
  std::string place;  ///< row or column
  std::string step;
  std::string chunk;  ///< of four steps; where the tensor cores of a warpgroup multiply
  std::string kept;   ///< which of the thread's places it is; of single elements whose neighbours are lines
};

/// `along_steps`: neighbouring threads have neighbouring steps of one row or column. `tile`: the macro that says how
/// many places the tile has; `places`: how many of them a thread has.
[[nodiscard]] TileOrder tile_order(TileProducts products, TileRun run, bool along_steps, const std::string& tile,
                                   const std::string& places);

}  // namespace kw

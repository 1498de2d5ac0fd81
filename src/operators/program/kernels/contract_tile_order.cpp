#include "operators/program/kernels/contract_tile_order.hpp"

#include <fmt/format.h>

namespace kw {
namespace {

/// Tiles are stored element by element, or by four neighbours.
TileOrder order_of_elements(TileRun run, bool along_steps, const std::string& tile) {
  TileOrder order;
  order.at = run == TileRun::one ? "thread + i * TILE_THREADS" : "4 * thread + i * TILE_THREADS";
  order.place = along_steps ? "at / TILE_K" : "at % " + tile;
  order.step = along_steps ? "at % TILE_K" : "at / " + tile;
  return order;
}

/// A thread stores four steps of a line at a time.
TileOrder order_of_chunks(TileRun run, bool along_steps, const std::string& tile) {
  TileOrder order;
  order.at = "thread + i / 4 * TILE_THREADS";
  order.place = along_steps ? "at / (TILE_K / 4)" : "at % " + tile;
  order.chunk = along_steps ? "at % (TILE_K / 4)" : "at / " + tile;
  order.step = order.chunk + (run == TileRun::one ? " * 4 + i % 4" : " * 4");
  return order;
}

/// Where lines are the neighbours, four lines at once. Four threads have the steps of 16 bytes each of four rows of
/// memory, which keeps their stores in different banks. A large block has more threads than there are such runs.
TileOrder order_of_blocks(const std::string& tile) {
  TileOrder order;
  order.at = "thread + i / 16 * TILE_THREADS";
  order.valid = "at < " + tile + " * TILE_K / 16";
  order.place = fmt::format("at / 4 % ({} / 4) * 4", tile);
  order.chunk = fmt::format("at % 4 + at / {} * 4", tile);
  order.step = fmt::format("({}) * 4 + i / 4 % 4", order.chunk);
  return order;
}

}  // namespace

TileOrder tile_order(TileProducts products, TileRun run, bool along_steps, const std::string& tile,
                     const std::string& places) {
  if (products != TileProducts::wgmma) {
    auto order = order_of_elements(run, along_steps, tile);
    order.kept = "i % " + places;
    return order;
  }
  auto order = run == TileRun::lines ? order_of_blocks(tile) : order_of_chunks(run, along_steps, tile);
  order.kept = "i / 4 % " + places;
  return order;
}

}  // namespace kw

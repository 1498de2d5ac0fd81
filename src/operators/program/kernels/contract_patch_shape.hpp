#pragma once
// The tunables of products of filters and patches: what an assignment makes of them, as numbers and as expressions of
// bundles.

#include <optional>
#include <string>
#include <vector>

#include "hardware/device_facts.hpp"
#include "operators/program/kernels/contract_patches.hpp"
#include "operators/program/kernels/program_bundle.hpp"
#include "record/bundle.hpp"

namespace kw {

/// The extents of a PatchContraction as it was read. Without lines a tile is one line of pixels.
struct PatchSize {
  bool lined = false;
  std::int64_t line_step = 1, line_span = 0;  ///< of the tensor's lines: from output to output, from tap to tap
  std::int64_t step = 1, span = 0;            ///< the same along a line
  std::int64_t taps = 1;
  std::int64_t joined = 1;       ///< phases of a line that a block computes, one after another
  std::int64_t joined_sums = 1;  ///< of these, those with taps: their sums are in shared memory together
  bool in_fours = false;         ///< four divides the output's lines
  bool halves = false;           ///< pixels and filter are scaled f16 numbers, else numbers of tf32
  bool wide = false;    ///< PATCH_WIDE says which tiles: of lines of a warpgroup's columns, or of eight columns each
  bool phases = false;  ///< outputs of a batch lie apart, as those of a transposed convolution do
  double batch = 1, rows = 1, outer = 1, width = 1, height = 1, depth = 1, others = 1;
  double stored_length = 1;  ///< of a line of the output, or of a run of it
  double stored_step = 1;    ///< from a pixel of a tile to the next, in the output
  /// Taps and `others` of each phase; empty: those of all.
  struct OfPhase {
    double taps = 1, others = 1;
  };
  std::vector<OfPhase> of_phases;
};
[[nodiscard]] PatchSize patch_size(const Contraction& contraction, const PatchContraction& patch);

/// As phases are where each has a tile of its own.
void forget_joined(PatchSize& size);
/// Leaves what is wanted, or can be and is estimated to be faster: joined phases, phases with their own taps, and
/// halves, of factors that are `rounded` or not.
void choose_ways(PatchSize& size, bool rounded, ContractWays ways);

/// Channels that 16 bytes of a pixel hold.
[[nodiscard]] constexpr int patch_unit(const PatchSize& size) {
  return size.halves ? 8 : 4;
}

/// How many times registers hold a thread's sums: those of all and of a part, or the same for both; of split f16
/// numbers those of products with small parts too.
[[nodiscard]] constexpr int patch_copies(const PatchSize& size, bool rounded, bool is_long) {
  if (!rounded) return size.halves ? 3 : 2;
  return is_long ? 2 : 1;
}

/// Registers of a thread besides sums and what it loads: PATCH_REGISTERS of kernels/program/patches.cu, and exponents
/// of halves.
[[nodiscard]] int patch_other_registers(const PatchSize& size);

// Of a tile.
[[nodiscard]] std::string tile_lines_text(const PatchSize& size);
[[nodiscard]] std::string tile_width_text(const PatchSize& size);
/// Shared memory of a block.
[[nodiscard]] std::string patch_bytes_text(const PatchSize& size, bool rounded);
/// Numbers of the packed filter, each counted once.
[[nodiscard]] std::string packed_count_text(const PatchSize& size, const Extent& batch, const Extent& rows,
                                            const Extent& others, const Extent& depth);

/// PATCH_K channels of a patch, PATCH_STEPS steps of eight products, or sixteen of halves, that a slice of the filter
/// has; where tiles may be `wide` PATCH_WIDE; with those of the other products of warpgroups.
[[nodiscard]] std::vector<Tunable> patch_tunables(bool wide);
[[nodiscard]] std::vector<std::string> patch_constraints(const PatchSize& size, bool rounded, bool is_long);
/// What takes `computing` by itself and `memory` by itself, in the same unit: the longer one, and longer where both
/// take as long: their norm of this power.
inline constexpr double k_hiding_power = 4.0;
[[nodiscard]] double with_memory(double computing, double memory, double power = k_hiding_power);
/// What memory takes of the cost below.
[[nodiscard]] double patch_memory(const PatchSize& size, bool rounded, const DeviceFacts& device,
                                  const IntBindings& assignment);
/// In clocks of a unit; `assignment` has every tunable.
[[nodiscard]] double patch_cost(const PatchSize& size, bool rounded, bool is_long, const DeviceFacts& device,
                                const IntBindings& assignment);

}  // namespace kw

#pragma once
// What the fused CUDA and HIP styles have in common when they choose tiles: the GPU they write for, how tiles shrink
// for heads larger than the primary workload's, and a cost that follows from throughputs and residency.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "hardware/device_facts.hpp"
#include "problem/problem.hpp"
#include "record/bundle.hpp"

namespace kw {

/// The device's own facts, or those of the smallest GPU that the styles are written for where it is no GPU.
[[nodiscard]] DeviceFacts gpu_facts_for(const DeviceFacts& device);

/// Head sizes as texts: the axes' names in a bundle, or numbers where a formula is wanted for one workload.
struct HeadText {
  std::string head = "D";
  std::string value = "Dv";
};
[[nodiscard]] HeadText primary_heads(const Problem& problem);
/// Of the workloads that a tile must fit: the primary, and the one whose heads are largest if that is another.
[[nodiscard]] std::vector<HeadText> heads_to_fit(const Problem& problem);

/// `count` divided by 1, 2 or 4, at least `least`, so that a tile for heads up to four times the primary's takes no
/// more shared memory and registers than the primary's; `count` itself where no workload has larger heads.
[[nodiscard]] std::string shrunk(const Problem& problem, const HeadText& heads, const std::string& count,
                                 std::int64_t least);

/// What section "bounds" of fused.cu takes of shared memory beside the tiles, an expression like `rows`.
[[nodiscard]] std::string row_bounds_bytes(const std::string& rows);

/// What a block does with one panel of keys, in clocks of a unit if it had the unit for itself and nothing waited.
struct PanelWork {
  double arithmetic = 0;  ///< issue of everything but what follows
  double tensor = 0;
  double special = 0;  ///< exp2 and its like
  double shared = 0;   ///< shared memory, at 128 bytes per clock
};
struct BlockShape {
  std::int64_t rows = 1, keys = 1, threads = 32;
  std::int64_t registers = 0, shared_bytes = 0;
  /// Resident warps at which half of the throughput is reached.
  double warps_to_half = 3;
  bool pack_gqa = false;
  /// Into how many blocks for each unit keys are cut at most; 0 where they are not.
  std::int64_t blocks_per_unit = 0;
};
/// Clocks for the primary workload; infinite when no block fits. Only ordering matters.
[[nodiscard]] double attention_clocks(const Problem& problem, const DeviceFacts& gpu, const BlockShape& block,
                                      const PanelWork& work);
/// The same, where the style says itself how long `together` blocks of a unit take for so many panels each.
[[nodiscard]] double attention_clocks(const Problem& problem, const DeviceFacts& gpu, const BlockShape& block,
                                      const std::function<double(std::int64_t together, double panels)>& clocks_of);

/// All assignments of `tunables` that satisfy `constraints` over them and the facts of gpu_facts_for(device).
[[nodiscard]] std::vector<IntBindings> legal_assignments(const std::vector<Tunable>& tunables,
                                                         const std::vector<std::string>& constraints,
                                                         const DeviceFacts& device);

/// `text` for these names; the text is ours, so failing is a defect.
[[nodiscard]] std::int64_t value_of(const std::string& text, const IntBindings& names);
[[nodiscard]] std::int64_t value_of(const IntExpr& expression, const IntBindings& names);

/// Nodes of the problem's mods, as a measure of what they cost per score; those that a GPU computes in its special
/// units count in `special`.
struct ModCost {
  double plain = 0, special = 0;
};
[[nodiscard]] ModCost mod_cost(const Problem& problem);

}  // namespace kw

#pragma once
// What the warps of a kernel ask of memory, as the CUDA simulator counts it (device/sim/access_counter.hpp, which has
// the rules). Attempts keep it, prompts and reports show it. Exact for the launch that was simulated; no time follows
// from it.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace kw {

/// All accesses of one kind at one line of the source, in all launches of one kernel together. Of the branch at the end
/// of the basic block that begins at the line where no transactions are counted (counts_branches in access_text.hpp).
struct AccessCounts {
  std::string kernel;
  std::int64_t line = 0;  ///< of the source below the bundle's header, from 1; 0: not known, or several
  bool shared = false;    ///< shared memory; else global memory
  bool write = false;
  std::int64_t requests = 0;  ///< instructions of warps, each for all of its lanes that take part
  std::int64_t partial = 0;   ///< of these, requests in which lanes of the warp take no part
  std::int64_t lanes = 0;     ///< that take part, of all requests together
  /// Sectors of 32 bytes of global memory, or passes over the banks of shared memory.
  std::int64_t transactions = 0;
  std::int64_t least = 0;  ///< transactions, if the same bytes lay side by side
};

/// Of one launch of the primary workload, or of its first groups.
struct SimulatedAccesses {
  std::string device;               ///< the simulated one
  std::int64_t groups = 0;          ///< of the last launch that ran
  std::int64_t of = 0;              ///< in the whole plan
  std::int64_t uncounted = 0;       ///< accesses of threads that there was no room to count
  std::vector<AccessCounts> lines;  ///< at most k_max_access_lines, by kernel and line
};
inline constexpr std::size_t k_max_access_lines = 256;

}  // namespace kw

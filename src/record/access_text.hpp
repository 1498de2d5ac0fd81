#pragma once
// Counts of memory accesses in words: the same ones on the terminal, in reports and in prompts.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "record/access_counts.hpp"

namespace kw {

enum class MemorySpace : std::uint8_t { global, shared };

/// Whether an entry is not of accesses, which take a transaction at least, but of the branch at the end of the basic
/// block that begins at its line: `requests` are the warps that came to it, `partial` those whose lanes parted there.
[[nodiscard]] inline bool counts_branches(const AccessCounts& counts) {
  return counts.transactions == 0;
}

/// All branches together; no requests where none were counted.
[[nodiscard]] AccessCounts branches_of(const SimulatedAccesses& accesses);

/// All kernels and lines of one space together; `line` is 0 and the name empty.
[[nodiscard]] AccessCounts sum_of(const SimulatedAccesses& accesses, MemorySpace space);

/// Transactions beyond those that the bytes need.
[[nodiscard]] inline std::int64_t excess_of(const AccessCounts& counts) {
  return counts.transactions > counts.least ? counts.transactions - counts.least : 0;
}
/// Of the lanes that a warp's requests have room for, the share that took part; 1 without requests.
[[nodiscard]] double lane_share(const AccessCounts& counts);

/// Known lines with transactions in excess, or with a quarter of the lanes missing; those that cost most first.
[[nodiscard]] std::vector<AccessCounts> costly_lines(const SimulatedAccesses& accesses, std::size_t most);

/// "reads of global memory: 32 sectors a request of a warp, 4 would do", and how many lanes take part if not all.
[[nodiscard]] std::string costly_text(const AccessCounts& counts);

/// One sentence for each kernel and its branches, "attention, branches: warps come to 640, and part at 32, most often
/// at the end of what begins at line 14.", and one for each kernel and space: "attention, global memory: 640 requests
/// of warps in 2,560 sectors of 32 bytes; 2,560 would do."
[[nodiscard]] std::vector<std::string> access_sentences(const SimulatedAccesses& accesses);

/// What was counted, "in all 64 groups" or "in the first 8 of 64 groups".
[[nodiscard]] std::string counted_part(const SimulatedAccesses& accesses);

/// Everything, for a terminal: a heading, the sentences, the costliest lines.
[[nodiscard]] std::vector<std::string> access_lines(const SimulatedAccesses& accesses);

}  // namespace kw

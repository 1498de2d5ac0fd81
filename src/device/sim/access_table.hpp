#pragma once
// What was counted of all kernels of a plan, by lines of the source.

#include <cstddef>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "device/sim/access_counter.hpp"
#include "record/access_counts.hpp"

namespace kw::sim {

class AccessTable {
 public:
  /// `line` 0: not known.
  void add(const std::string& kernel, int line, const AccessSite& site, const AccessTotals& totals);
  /// Likewise, of the branch at the end of the basic block that begins at the line.
  void add(const std::string& kernel, int line, const BranchTotals& totals);
  /// All that was added since the last call, by kernel and line, no more than `most` entries. Of more, those with the
  /// fewest transactions are put together as line 0 of their kernel. Of branches, those are kept that part warps most
  /// often, an eighth of `most` (record/access_text.hpp: counts_branches).
  [[nodiscard]] std::vector<AccessCounts> take(std::size_t most);

 private:
  using Key = std::tuple<std::string, int, bool, bool>;  ///< kernel, line, shared, write
  [[nodiscard]] std::vector<AccessCounts> take_branches(std::size_t most);

  std::map<Key, AccessTotals> totals_;
  std::map<std::pair<std::string, int>, BranchTotals> branches_;  ///< by kernel and line
};

}  // namespace kw::sim

#pragma once
// What was counted of all kernels of a plan, by lines of the source.

#include <cstddef>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "device/sim/access_counter.hpp"
#include "record/access_counts.hpp"

namespace kw::sim {

class AccessTable {
 public:
  /// `line` 0: not known.
  void add(const std::string& kernel, int line, const AccessSite& site, const AccessTotals& totals);
  /// All that was added since the last call, by kernel and line, no more than `most` entries. Of more, those with the
  /// fewest transactions are put together as line 0 of their kernel.
  [[nodiscard]] std::vector<AccessCounts> take(std::size_t most);

 private:
  using Key = std::tuple<std::string, int, bool, bool>;  ///< kernel, line, shared, write
  std::map<Key, AccessTotals> totals_;
};

}  // namespace kw::sim

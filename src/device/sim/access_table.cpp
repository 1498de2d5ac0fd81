#include "device/sim/access_table.hpp"

#include <algorithm>
#include <utility>

namespace kw::sim {

void AccessTable::add(const std::string& kernel, int line, const AccessSite& site, const AccessTotals& totals) {
  totals_[{kernel, line, site.shared, site.write}] += totals;
}

std::vector<AccessCounts> AccessTable::take(std::size_t most) {
  std::vector<std::int64_t> sizes;
  for (const auto& [key, totals] : totals_) sizes.push_back(totals.transactions);
  std::sort(sizes.rbegin(), sizes.rend());
  // Each kernel has four kinds of accesses for what is put together.
  const std::size_t kept = sizes.size() <= most ? sizes.size() : most / 2;
  const std::int64_t least_kept = kept < sizes.size() ? sizes[kept] : -1;
  std::map<Key, AccessTotals> table;
  for (const auto& [key, totals] : totals_) {
    const auto& [kernel, line, shared, write] = key;
    const bool keeps = totals.transactions > least_kept;
    table[{kernel, keeps ? line : 0, shared, write}] += totals;
  }
  totals_.clear();
  std::vector<AccessCounts> counts;
  for (const auto& [key, t] : table) {
    const auto& [kernel, line, shared, write] = key;
    if (counts.size() == most) break;
    counts.push_back({kernel, line, shared, write, t.requests, t.partial, t.lanes, t.transactions, t.least});
  }
  return counts;
}

}  // namespace kw::sim

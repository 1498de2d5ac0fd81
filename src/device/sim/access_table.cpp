#include "device/sim/access_table.hpp"

#include <algorithm>
#include <utility>

namespace kw::sim {

void AccessTable::add(const std::string& kernel, int line, const AccessSite& site, const AccessTotals& totals) {
  totals_[{kernel, line, site.shared, site.write}] += totals;
}

void AccessTable::add(const std::string& kernel, int line, const BranchTotals& totals) {
  BranchTotals& sum = branches_[{kernel, line}];
  sum.executed += totals.executed;
  sum.parted += totals.parted;
  sum.lanes += totals.lanes;
}

std::vector<AccessCounts> AccessTable::take_branches(std::size_t most) {
  std::vector<std::int64_t> sizes;
  for (const auto& [key, totals] : branches_) sizes.push_back(totals.parted);
  std::sort(sizes.rbegin(), sizes.rend());
  const std::int64_t least_kept = sizes.size() <= most ? -1 : sizes[most / 2];
  std::map<std::pair<std::string, int>, BranchTotals> table;
  for (const auto& [key, t] : std::exchange(branches_, {})) {
    BranchTotals& sum = table[{key.first, t.parted > least_kept ? key.second : 0}];
    sum.executed += t.executed;
    sum.parted += t.parted;
    sum.lanes += t.lanes;
  }
  std::vector<AccessCounts> counts;
  for (const auto& [key, t] : table) {
    if (counts.size() < most)
      counts.push_back({key.first, key.second, false, false, t.executed, t.parted, t.lanes, 0, 0});
  }
  return counts;
}

std::vector<AccessCounts> AccessTable::take(std::size_t most) {
  std::vector<AccessCounts> counts = take_branches(most / 8);
  const std::size_t room = most - counts.size();
  std::vector<std::int64_t> sizes;
  for (const auto& [key, totals] : totals_) sizes.push_back(totals.transactions);
  std::sort(sizes.rbegin(), sizes.rend());
  // Each kernel has four kinds of accesses for what is put together.
  const std::size_t kept = sizes.size() <= room ? sizes.size() : room / 2;
  const std::int64_t least_kept = kept < sizes.size() ? sizes[kept] : -1;
  std::map<Key, AccessTotals> table;
  for (const auto& [key, totals] : totals_) {
    const auto& [kernel, line, shared, write] = key;
    const bool keeps = totals.transactions > least_kept;
    table[{kernel, keeps ? line : 0, shared, write}] += totals;
  }
  totals_.clear();
  for (const auto& [key, t] : table) {
    const auto& [kernel, line, shared, write] = key;
    if (counts.size() == most) break;
    counts.push_back({kernel, line, shared, write, t.requests, t.partial, t.lanes, t.transactions, t.least});
  }
  return counts;
}

}  // namespace kw::sim

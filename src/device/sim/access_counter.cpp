#include "device/sim/access_counter.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <utility>

namespace kw::sim {
namespace {

constexpr std::uint64_t k_sector_bytes = 32;
constexpr std::uint64_t k_bank_bytes = 4;
constexpr unsigned k_banks = 32;
constexpr unsigned k_longest_bytes = 16;
/// Requests of one host thread that wait for lanes, some 300 bytes each.
constexpr std::size_t k_most_open = std::size_t{1} << 18;

/// For a few numbers at a time: sorted, each once.
template <std::size_t most>
class SmallSet {
 public:
  void add(std::uint64_t value) { values_[static_cast<std::size_t>(size_++)] = value; }
  std::span<const std::uint64_t> sorted() {
    std::sort(values_.begin(), values_.begin() + size_);
    size_ = std::unique(values_.begin(), values_.begin() + size_) - values_.begin();
    return {values_.data(), static_cast<std::size_t>(size_)};
  }

 private:
  std::array<std::uint64_t, most> values_{};
  std::ptrdiff_t size_ = 0;
};

/// Passes for the words of lanes that are served together.
std::int64_t passes_of(std::span<const std::uint64_t> words) {
  std::array<std::int64_t, k_banks> of_bank{};
  for (const std::uint64_t word : words) ++of_bank[word % k_banks];
  return *std::max_element(of_bank.begin(), of_bank.end());
}

/// The largest power of two that divides the length, as all alignments of a type do.
unsigned piece_bytes(std::size_t bytes) {
  return static_cast<unsigned>(std::min<std::size_t>(bytes & (~bytes + 1), k_longest_bytes));
}

}  // namespace

AccessTotals& AccessTotals::operator+=(const AccessTotals& other) {
  requests += other.requests;
  partial += other.partial;
  lanes += other.lanes;
  transactions += other.transactions;
  least += other.least;
  return *this;
}

RequestCost global_cost(const LaneRequest& request, unsigned bytes) {
  SmallSet<2 * AccessCounter::k_lanes> sectors;
  SmallSet<AccessCounter::k_lanes> begins;
  for (unsigned lane = 0; lane < AccessCounter::k_lanes; ++lane) {
    if ((request.lanes >> lane & 1) == 0) continue;
    const std::uint64_t begin = request.address[lane];
    begins.add(begin);
    sectors.add(begin / k_sector_bytes);
    sectors.add((begin + bytes - 1) / k_sector_bytes);
  }
  std::uint64_t distinct = 0;
  std::uint64_t end = 0;
  for (const std::uint64_t begin : begins.sorted()) {
    const std::uint64_t from = distinct == 0 ? begin : std::max(begin, end);
    end = begin + bytes;
    distinct += end - from;
  }
  return {std::ssize(sectors.sorted()), static_cast<std::int64_t>((distinct + k_sector_bytes - 1) / k_sector_bytes)};
}

RequestCost shared_cost(const LaneRequest& request, unsigned bytes) {
  const unsigned words_each = std::max(1U, bytes / static_cast<unsigned>(k_bank_bytes));
  const unsigned together = AccessCounter::k_lanes / words_each;
  RequestCost cost;
  for (unsigned first = 0; first < AccessCounter::k_lanes; first += together) {
    SmallSet<AccessCounter::k_lanes> words;
    for (unsigned lane = first; lane < first + together; ++lane) {
      if ((request.lanes >> lane & 1) == 0) continue;
      const std::uint64_t word = request.address[lane] / k_bank_bytes;
      for (unsigned i = 0; i < words_each; ++i) words.add(word + i);
    }
    const auto distinct = words.sorted();
    if (distinct.empty()) continue;
    cost.transactions += passes_of(distinct);
    ++cost.least;
  }
  return cost;
}

std::size_t AccessCounter::SiteHash::operator()(const AccessSite& site) const {
  const std::uint64_t kind = site.bytes * 4 + (site.shared ? 2 : 0) + (site.write ? 1 : 0);
  return std::hash<std::uint64_t>()(site.place * 128 + kind);
}

void AccessCounter::begin_block(std::size_t threads) {
  branches_.begin_block(threads);
  warps_.resize((threads + k_lanes - 1) / k_lanes);
  for (std::size_t w = 0; w < warps_.size(); ++w) {
    const auto lanes = static_cast<unsigned>(std::min<std::size_t>(k_lanes, threads - w * k_lanes));
    warps_[w].lanes = ~std::uint32_t{0} >> (k_lanes - lanes);
  }
}

void AccessCounter::access(unsigned thread, AccessSite site, std::uint64_t address, std::size_t bytes) {
  if (bytes == 0) return;
  site.bytes = piece_bytes(bytes);
  for (std::size_t at = 0; at < bytes; at += site.bytes) {
    piece(warps_[thread / k_lanes], thread % k_lanes, site, address + at);
  }
}

void AccessCounter::piece(Warp& warp, unsigned lane, const AccessSite& site, std::uint64_t address) {
  Open& open = warp.sites[site];
  const std::uint32_t place = open.begun[lane] - open.settled;
  if (place == open.requests.size()) {
    if (open_ == k_most_open) {
      ++uncounted_;
      return;
    }
    ++open_;
    open.requests.emplace_back();
  }
  ++open.begun[lane];
  LaneRequest& request = open.requests[place];
  request.lanes |= std::uint32_t{1} << lane;
  request.address[lane] = address;
  // Each lane comes in order, so that no request is complete before those in front of it.
  while (!open.requests.empty() && open.requests.front().lanes == warp.lanes) {
    settle(site, open.requests.front(), warp.lanes);
    open.requests.pop_front();
    ++open.settled;
    --open_;
  }
}

void AccessCounter::matrix_rows(kw_sim::Place place, std::span<const std::uint64_t> rows) {
  constexpr std::size_t k_rows = 8;
  AccessTotals& totals = totals_[{place, true, false, k_longest_bytes}];
  AccessTotals one{1, 0, k_lanes, 0, 0};
  for (std::size_t first = 0; first + k_rows <= rows.size(); first += k_rows) {
    LaneRequest request{0xff, {}};
    std::copy_n(rows.begin() + static_cast<std::ptrdiff_t>(first), k_rows, request.address.begin());
    const RequestCost cost = shared_cost(request, k_longest_bytes);
    one.transactions += cost.transactions;
    one.least += cost.least;
  }
  totals += one;
}

void AccessCounter::settle(const AccessSite& site, const LaneRequest& request, std::uint32_t all) {
  const RequestCost cost = site.shared ? shared_cost(request, site.bytes) : global_cost(request, site.bytes);
  totals_[site] += {1, request.lanes == all ? 0 : 1, std::popcount(request.lanes), cost.transactions, cost.least};
}

void AccessCounter::warp_is_together(std::size_t warp) {
  branches_.warp_is_together(warp);
  for (auto& [site, open] : warps_[warp].sites) {
    for (const LaneRequest& request : open.requests) settle(site, request, warps_[warp].lanes);
    open_ -= open.requests.size();
  }
  warps_[warp].sites.clear();
}

void AccessCounter::block_is_together() {
  for (std::size_t warp = 0; warp < warps_.size(); ++warp) warp_is_together(warp);
}

std::map<AccessSite, AccessTotals> AccessCounter::take() {
  return std::exchange(totals_, {});
}

}  // namespace kw::sim

#include "device/sim/branch_counter.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace kw::sim {
namespace {

/// Executions of one host thread that wait for lanes.
constexpr std::size_t k_most_open_exits = std::size_t{1} << 18;

}  // namespace

void BranchCounter::begin_block(std::size_t threads) {
  in_.assign(threads, 0);
  warps_.resize((threads + k_lanes - 1) / k_lanes);
  for (std::size_t w = 0; w < warps_.size(); ++w) {
    const auto lanes = static_cast<unsigned>(std::min<std::size_t>(k_lanes, threads - w * k_lanes));
    warps_[w].lanes = ~std::uint32_t{0} >> (k_lanes - lanes);
  }
}

bool BranchCounter::is_left_out(kw_sim::Place block) {
  if (!is_ours_) return false;
  const auto [known, is_new] = ours_.try_emplace(block, false);
  if (is_new) known->second = is_ours_(block);
  return known->second;
}

void BranchCounter::entered(unsigned thread, kw_sim::Place block) {
  if (is_left_out(block)) return;
  const kw_sim::Place from = std::exchange(in_[thread], block);
  if (from == 0) return;
  Known& known = known_[from];
  if (known.to == 0) known.to = block;
  known.is_branch = known.is_branch || known.to != block;
  Warp& warp = warps_[thread / k_lanes];
  const unsigned lane = thread % k_lanes;
  Open& open = warp.blocks[from];
  const std::uint32_t place = open.begun[lane] - open.settled;
  if (place == open.exits.size()) {
    if (open_ == k_most_open_exits) return;
    ++open_;
    open.exits.push_back({0, block, false});
  }
  ++open.begun[lane];
  Exit& exit = open.exits[place];
  exit.lanes |= std::uint32_t{1} << lane;
  exit.parted = exit.parted || exit.to != block;
  // Each lane comes in order, so that no execution is complete before those in front of it.
  while (!open.exits.empty() && open.exits.front().lanes == warp.lanes) {
    settle(open.exits.front(), known.totals);
    open.exits.pop_front();
    ++open.settled;
    --open_;
  }
}

void BranchCounter::settle(const Exit& exit, BranchTotals& totals) {
  ++totals.executed;
  totals.parted += exit.parted ? 1 : 0;
  totals.lanes += std::popcount(exit.lanes);
}

void BranchCounter::warp_is_together(std::size_t warp) {
  for (auto& [from, open] : warps_[warp].blocks) {
    for (const Exit& exit : open.exits) settle(exit, known_[from].totals);
    open_ -= open.exits.size();
  }
  warps_[warp].blocks.clear();
}

std::map<kw_sim::Place, BranchTotals> BranchCounter::take() {
  std::map<kw_sim::Place, BranchTotals> branches;
  for (const auto& [from, known] : known_) {
    if (known.is_branch) branches.emplace(from, known.totals);
  }
  known_.clear();
  return branches;
}

}  // namespace kw::sim

#include "device/sim/shadow.hpp"

#include <algorithm>

namespace kw::sim {

void WarpClocks::reset(unsigned warp_lanes) {
  lanes = warp_lanes;
  for (unsigned lane = 0; lane < lanes; ++lane) known[lane].fill(0);
  now.fill(1);
}

void WarpClocks::join(std::uint64_t mask) {
  std::array<std::uint32_t, k_max_lanes> all{};
  for (unsigned lane = 0; lane < lanes; ++lane) {
    if ((mask >> lane & 1U) == 0) continue;
    for (unsigned other = 0; other < lanes; ++other) all[other] = std::max(all[other], known[lane][other]);
    all[lane] = std::max(all[lane], now[lane]);
  }
  for (unsigned lane = 0; lane < lanes; ++lane) {
    if ((mask >> lane & 1U) == 0) continue;
    known[lane] = all;
    ++now[lane];
  }
}

}  // namespace kw::sim

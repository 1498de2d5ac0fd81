#include "device/sim/shadow.hpp"

#include <algorithm>

namespace kw::sim {

void WarpClocks::reset() {
  for (auto& lane : known) lane.fill(0);
  now.fill(1);
}

void WarpClocks::join(unsigned mask) {
  std::array<std::uint32_t, k_lanes> all{};
  for (unsigned lane = 0; lane < k_lanes; ++lane) {
    if ((mask >> lane & 1U) == 0) continue;
    for (unsigned other = 0; other < k_lanes; ++other) all[other] = std::max(all[other], known[lane][other]);
    all[lane] = std::max(all[lane], now[lane]);
  }
  for (unsigned lane = 0; lane < k_lanes; ++lane) {
    if ((mask >> lane & 1U) == 0) continue;
    known[lane] = all;
    ++now[lane];
  }
}

}  // namespace kw::sim

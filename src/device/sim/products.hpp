#pragma once
// Products of a warpgroup that a thread has asked for and not waited for. They are computed when they are waited for
// and no sooner, from what shared memory holds then: a kernel that overwrites an operand too early, or reads a sum too
// early, gets what no test overlooks.

#include <cstdint>
#include <deque>
#include <vector>

#include "device/sim/runtime/abi.hpp"

namespace kw::sim {

class PendingProducts {
 public:
  void clear();
  /// From now on `product.sums` hold NaN, until the last product that was asked for with them is complete.
  void defer(const kw_sim::Product& product);
  /// Ends a group (wgmma.commit_group).
  void commit() { ++group_; }
  /// The oldest product that a wait for all but `groups_left` of the ended groups (wgmma.wait_group) waits for, taken
  /// out; the one given before counts as computed then. Its `sums` are ours. False when there is none.
  bool next(int groups_left, kw_sim::Product& product);

 private:
  struct Sums {
    float* place = nullptr;     ///< the thread's own
    std::vector<float> values;  ///< while products are pending
    unsigned pending = 0;
  };
  struct Pending {
    kw_sim::Product product{};
    std::uint64_t group = 0;
  };
  [[nodiscard]] Sums& sums_at(const kw_sim::Product& product);
  void complete(float* place);

  std::deque<Pending> products_;
  std::vector<Sums> sums_;
  std::uint64_t group_ = 0;
  float* computed_ = nullptr;  ///< the sums of the product that next() gave last
};

}  // namespace kw::sim

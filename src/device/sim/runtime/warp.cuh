#pragma once
// Barriers, shuffles, votes: what threads do together. The language has defined kw_sim_mask, what it takes for the
// lanes of a warp, kw_sim_lane_set, what it gives, and kw_sim_bits, which makes a number of a mask. Functions of ours
// take a mask as a number, and whether it counts: HIP has functions without one.

#define __syncthreads() ((void)kw_sim_barrier(kw_sim::BarrierOp::plain, 0, __LINE__))
KW_INLINE int __syncthreads_count(int predicate, KW_LINE) {
  return kw_sim_barrier(kw_sim::BarrierOp::count, predicate, kw_line);
}
KW_INLINE int __syncthreads_and(int predicate, KW_LINE) {
  return kw_sim_barrier(kw_sim::BarrierOp::all, predicate, kw_line);
}
KW_INLINE int __syncthreads_or(int predicate, KW_LINE) {
  return kw_sim_barrier(kw_sim::BarrierOp::any, predicate, kw_line);
}

KW_INLINE void kw_sim_sync(unsigned long mask, bool unmasked, int line) {
  kw_sim::WarpRequest request{kw_sim::WarpOp::sync, mask, line, 0, KW_SIM_LANES, 0, nullptr, nullptr, unmasked};
  kw_sim_warp(&request);
}

template <typename T>
KW_INLINE T kw_sim_shuffle(kw_sim::WarpOp op, unsigned long mask, bool unmasked, T value, int lane, int width,
                           int line) {
  static_assert(sizeof(T) <= 8, "a shuffle moves at most 8 bytes");
  T result = value;
  kw_sim::WarpRequest request{op, mask, line, lane, width, sizeof(T), &value, &result, unmasked};
  kw_sim_warp(&request);
  return result;
}
#define KW_SHUFFLE(NAME, OP, DISTANCE)                                                                      \
  template <typename T>                                                                                     \
  KW_INLINE T NAME(kw_sim_mask mask, T value, DISTANCE distance, int width = KW_SIM_LANES, KW_LINE) {       \
    return kw_sim_shuffle(kw_sim::WarpOp::OP, kw_sim_bits(mask), false, value, static_cast<int>(distance),  \
                          width, kw_line);                                                                  \
  }
KW_SHUFFLE(__shfl_sync, shuffle, int)
KW_SHUFFLE(__shfl_up_sync, shuffle_up, unsigned)
KW_SHUFFLE(__shfl_down_sync, shuffle_down, unsigned)
KW_SHUFFLE(__shfl_xor_sync, shuffle_xor, int)
#undef KW_SHUFFLE

struct kw_sim_lanes {
  unsigned long chosen, present;
};
KW_INLINE kw_sim_lanes kw_sim_vote(unsigned long mask, bool unmasked, int predicate, int line) {
  kw_sim_lanes lanes{0, 0};
  kw_sim::WarpRequest request{
      kw_sim::WarpOp::ballot, mask, line, predicate != 0, KW_SIM_LANES, 8, nullptr, &lanes, unmasked};
  kw_sim_warp(&request);
  return lanes;
}
KW_INLINE kw_sim_lane_set __ballot_sync(kw_sim_mask mask, int predicate, KW_LINE) {
  return static_cast<kw_sim_lane_set>(kw_sim_vote(kw_sim_bits(mask), false, predicate, kw_line).chosen);
}
KW_INLINE int __any_sync(kw_sim_mask mask, int predicate, KW_LINE) {
  return kw_sim_vote(kw_sim_bits(mask), false, predicate, kw_line).chosen != 0;
}
KW_INLINE int __all_sync(kw_sim_mask mask, int predicate, KW_LINE) {
  const kw_sim_lanes lanes = kw_sim_vote(kw_sim_bits(mask), false, predicate, kw_line);
  return lanes.chosen == lanes.present;
}
KW_INLINE int __uni_sync(kw_sim_mask mask, int predicate, KW_LINE) {
  const kw_sim_lanes lanes = kw_sim_vote(kw_sim_bits(mask), false, predicate, kw_line);
  return lanes.chosen == 0 || lanes.chosen == lanes.present;
}
template <typename T>
KW_INLINE kw_sim_lanes kw_sim_match(unsigned long mask, T value, int line) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "lanes compare 4 or 8 bytes");
  kw_sim_lanes lanes{0, 0};
  kw_sim::WarpRequest request{kw_sim::WarpOp::match, mask, line, 0, KW_SIM_LANES, sizeof(T), &value, &lanes};
  kw_sim_warp(&request);
  return lanes;
}
template <typename T>
KW_INLINE kw_sim_lane_set __match_any_sync(kw_sim_mask mask, T value, KW_LINE) {
  return static_cast<kw_sim_lane_set>(kw_sim_match(kw_sim_bits(mask), value, kw_line).chosen);
}
template <typename T>
KW_INLINE kw_sim_lane_set __match_all_sync(kw_sim_mask mask, T value, int* all_equal, KW_LINE) {
  const kw_sim_lanes lanes = kw_sim_match(kw_sim_bits(mask), value, kw_line);
  *all_equal = lanes.chosen == lanes.present;
  return *all_equal != 0 ? static_cast<kw_sim_lane_set>(lanes.present) : 0;
}

KW_INLINE unsigned kw_sim_reduce(kw_sim::WarpOp op, unsigned long mask, unsigned value, int line) {
  unsigned result = 0;
  kw_sim::WarpRequest request{op, mask, line, 0, KW_SIM_LANES, 4, &value, &result};
  kw_sim_warp(&request);
  return result;
}
#define KW_REDUCE(NAME, UNSIGNED_OP, SIGNED_OP)                                                        \
  KW_INLINE unsigned NAME(kw_sim_mask mask, unsigned value, KW_LINE) {                                 \
    return kw_sim_reduce(kw_sim::WarpOp::UNSIGNED_OP, kw_sim_bits(mask), value, kw_line);              \
  }                                                                                                    \
  KW_INLINE int NAME(kw_sim_mask mask, int value, KW_LINE) {                                           \
    return static_cast<int>(kw_sim_reduce(kw_sim::WarpOp::SIGNED_OP, kw_sim_bits(mask),                \
                                          static_cast<unsigned>(value), kw_line));                     \
  }
KW_REDUCE(__reduce_add_sync, reduce_add, reduce_add)
KW_REDUCE(__reduce_min_sync, reduce_min, reduce_min_signed)
KW_REDUCE(__reduce_max_sync, reduce_max, reduce_max_signed)
KW_REDUCE(__reduce_and_sync, reduce_and, reduce_and)
KW_REDUCE(__reduce_or_sync, reduce_or, reduce_or)
KW_REDUCE(__reduce_xor_sync, reduce_xor, reduce_xor)
#undef KW_REDUCE

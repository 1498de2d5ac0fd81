#pragma once
// Barriers, shuffles, votes: what threads do together.

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

KW_INLINE void __syncwarp(unsigned mask = 0xffffffffu, KW_LINE) {
  kw_sim::WarpRequest request{kw_sim::WarpOp::sync, mask, kw_line, 0, 32, 0, nullptr, nullptr};
  kw_sim_warp(&request);
}
KW_INLINE unsigned __activemask() { return kw_sim_live_lanes(); }

template <typename T>
KW_INLINE T kw_sim_shuffle(kw_sim::WarpOp op, unsigned mask, T value, int lane, int width, int line) {
  static_assert(sizeof(T) <= 8, "a shuffle moves at most 8 bytes");
  T result = value;
  kw_sim::WarpRequest request{op, mask, line, lane, width, sizeof(T), &value, &result};
  kw_sim_warp(&request);
  return result;
}
template <typename T>
KW_INLINE T __shfl_sync(unsigned mask, T value, int lane, int width = 32, KW_LINE) {
  return kw_sim_shuffle(kw_sim::WarpOp::shuffle, mask, value, lane, width, kw_line);
}
template <typename T>
KW_INLINE T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, KW_LINE) {
  return kw_sim_shuffle(kw_sim::WarpOp::shuffle_up, mask, value, static_cast<int>(delta), width, kw_line);
}
template <typename T>
KW_INLINE T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, KW_LINE) {
  return kw_sim_shuffle(kw_sim::WarpOp::shuffle_down, mask, value, static_cast<int>(delta), width, kw_line);
}
template <typename T>
KW_INLINE T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32, KW_LINE) {
  return kw_sim_shuffle(kw_sim::WarpOp::shuffle_xor, mask, value, bits, width, kw_line);
}

struct kw_sim_lanes {
  unsigned chosen, present;
};
KW_INLINE kw_sim_lanes kw_sim_vote(unsigned mask, int predicate, int line) {
  kw_sim_lanes lanes{0, 0};
  kw_sim::WarpRequest request{kw_sim::WarpOp::ballot, mask, line, predicate != 0, 32, 8, nullptr, &lanes};
  kw_sim_warp(&request);
  return lanes;
}
KW_INLINE unsigned __ballot_sync(unsigned mask, int predicate, KW_LINE) {
  return kw_sim_vote(mask, predicate, kw_line).chosen;
}
KW_INLINE int __any_sync(unsigned mask, int predicate, KW_LINE) {
  return kw_sim_vote(mask, predicate, kw_line).chosen != 0;
}
KW_INLINE int __all_sync(unsigned mask, int predicate, KW_LINE) {
  const kw_sim_lanes lanes = kw_sim_vote(mask, predicate, kw_line);
  return lanes.chosen == lanes.present;
}
KW_INLINE int __uni_sync(unsigned mask, int predicate, KW_LINE) {
  const kw_sim_lanes lanes = kw_sim_vote(mask, predicate, kw_line);
  return lanes.chosen == 0 || lanes.chosen == lanes.present;
}
template <typename T>
KW_INLINE kw_sim_lanes kw_sim_match(unsigned mask, T value, int line) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "lanes compare 4 or 8 bytes");
  kw_sim_lanes lanes{0, 0};
  kw_sim::WarpRequest request{kw_sim::WarpOp::match, mask, line, 0, 32, sizeof(T), &value, &lanes};
  kw_sim_warp(&request);
  return lanes;
}
template <typename T>
KW_INLINE unsigned __match_any_sync(unsigned mask, T value, KW_LINE) {
  return kw_sim_match(mask, value, kw_line).chosen;
}
template <typename T>
KW_INLINE unsigned __match_all_sync(unsigned mask, T value, int* all_equal, KW_LINE) {
  const kw_sim_lanes lanes = kw_sim_match(mask, value, kw_line);
  *all_equal = lanes.chosen == lanes.present;
  return *all_equal != 0 ? lanes.present : 0u;
}

KW_INLINE unsigned kw_sim_reduce(kw_sim::WarpOp op, unsigned mask, unsigned value, int line) {
  unsigned result = 0;
  kw_sim::WarpRequest request{op, mask, line, 0, 32, 4, &value, &result};
  kw_sim_warp(&request);
  return result;
}
#define KW_REDUCE(NAME, UNSIGNED_OP, SIGNED_OP)                                                        \
  KW_INLINE unsigned NAME(unsigned mask, unsigned value, KW_LINE) {                                    \
    return kw_sim_reduce(kw_sim::WarpOp::UNSIGNED_OP, mask, value, kw_line);                           \
  }                                                                                                    \
  KW_INLINE int NAME(unsigned mask, int value, KW_LINE) {                                              \
    return static_cast<int>(                                                                           \
        kw_sim_reduce(kw_sim::WarpOp::SIGNED_OP, mask, static_cast<unsigned>(value), kw_line));        \
  }
KW_REDUCE(__reduce_add_sync, reduce_add, reduce_add)
KW_REDUCE(__reduce_min_sync, reduce_min, reduce_min_signed)
KW_REDUCE(__reduce_max_sync, reduce_max, reduce_max_signed)
KW_REDUCE(__reduce_and_sync, reduce_and, reduce_and)
KW_REDUCE(__reduce_or_sync, reduce_or, reduce_or)
KW_REDUCE(__reduce_xor_sync, reduce_xor, reduce_xor)
#undef KW_REDUCE

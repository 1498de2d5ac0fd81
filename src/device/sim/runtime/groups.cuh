#pragma once
// cooperative_groups: blocks and tiles of a warp. Grids and clusters need blocks that run at the same time and are
// refused by name.

namespace cooperative_groups {

class thread_block {
 public:
  static void sync(KW_LINE) { kw_sim_barrier(kw_sim::BarrierOp::plain, 0, kw_line); }
  static unsigned thread_rank() {
    const auto thread = threadIdx;
    const auto size = blockDim;
    return (thread.z * size.y + thread.y) * size.x + thread.x;
  }
  static unsigned size() { return blockDim.x * blockDim.y * blockDim.z; }
  static unsigned num_threads() { return size(); }
  static dim3 group_index() { return dim3(blockIdx); }
  static dim3 thread_index() { return dim3(threadIdx); }
  static dim3 dim_threads() { return blockDim; }
};
KW_INLINE thread_block this_thread_block() { return {}; }

template <unsigned Size>
class thread_block_tile {
  static_assert(Size >= 1 && Size <= KW_SIM_LANES && (Size & (Size - 1)) == 0,
                "a tile has 1, 2, 4, ... threads, at most those of a warp");
  static kw_sim_lane_set mask() {
    return static_cast<kw_sim_lane_set>(~0UL >> (64 - Size) << (kw_sim_lane() & ~(Size - 1u)));
  }

 public:
  static constexpr unsigned size() { return Size; }
  static constexpr unsigned num_threads() { return Size; }
  static unsigned thread_rank() { return kw_sim_lane() & (Size - 1u); }
  static unsigned meta_group_rank() { return thread_block::thread_rank() / Size; }
  static unsigned meta_group_size() { return (thread_block::size() + Size - 1u) / Size; }
  static void sync(KW_LINE) { __syncwarp(mask(), kw_line); }
  template <typename T>
  static T shfl(T value, int lane, KW_LINE) { return __shfl_sync(mask(), value, lane, Size, kw_line); }
  template <typename T>
  static T shfl_up(T value, unsigned delta, KW_LINE) { return __shfl_up_sync(mask(), value, delta, Size, kw_line); }
  template <typename T>
  static T shfl_down(T value, unsigned delta, KW_LINE) { return __shfl_down_sync(mask(), value, delta, Size, kw_line); }
  template <typename T>
  static T shfl_xor(T value, int bits, KW_LINE) { return __shfl_xor_sync(mask(), value, bits, Size, kw_line); }
  static int any(int predicate, KW_LINE) { return __any_sync(mask(), predicate, kw_line); }
  static int all(int predicate, KW_LINE) { return __all_sync(mask(), predicate, kw_line); }
  static kw_sim_lane_set ballot(int predicate, KW_LINE) {
    return __ballot_sync(mask(), predicate, kw_line) >> (kw_sim_lane() & ~(Size - 1u));
  }
};
template <unsigned Size>
KW_INLINE thread_block_tile<Size> tiled_partition(const thread_block&) {
  return {};
}
template <unsigned Size, unsigned Parent>
KW_INLINE thread_block_tile<Size> tiled_partition(const thread_block_tile<Parent>&) {
  static_assert(Size <= Parent, "a tile is no larger than what it is a part of");
  return {};
}

template <typename Group>
KW_INLINE void sync(const Group&, KW_LINE) {
  Group::sync(kw_line);
}

template <typename T>
struct plus {
  T operator()(T a, T b) const { return a + b; }
};
template <typename T>
struct less {
  T operator()(T a, T b) const { return b < a ? b : a; }
};
template <typename T>
struct greater {
  T operator()(T a, T b) const { return a < b ? b : a; }
};
/// In the order of a butterfly, as on GPUs.
template <unsigned Size, typename T, typename Op>
KW_INLINE T reduce(const thread_block_tile<Size>&, T value, Op op, KW_LINE) {
  for (int bits = Size / 2; bits > 0; bits /= 2) {
    value = op(value, thread_block_tile<Size>::shfl_xor(value, bits, kw_line));
  }
  return value;
}

}  // namespace cooperative_groups

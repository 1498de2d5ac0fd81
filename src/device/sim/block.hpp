#pragma once
// One block of threads at a time, each thread a fiber. A fiber runs until it has to wait, at a barrier or for other
// lanes of its warp; then the next ready one runs, in the order of their numbers. What threads do to memory is
// checked as they do it. Not thread-safe: every host thread has a Block of its own.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "device/sim/access_counter.hpp"
#include "device/sim/fiber_switch.hpp"
#include "device/sim/findings.hpp"
#include "device/sim/memory.hpp"
#include "device/sim/runtime/abi.hpp"
#include "device/sim/shared_barriers.hpp"
#include "device/sim/shared_shadow.hpp"
#include "device/sim/threads.hpp"

namespace kw::sim {

using KernelEntry = void (*)(const unsigned long long* arguments);

/// One launch as every block of it sees it.
struct KernelRun {
  KernelEntry entry = nullptr;
  std::vector<unsigned long long> arguments;
  kw_sim::Coordinates grid{1, 1, 1};
  kw_sim::Coordinates block{1, 1, 1};
  std::size_t shared_bytes = 0;
  std::string kernel;
};

class Block {
 public:
  /// `runner` below k_max_runners, different for Blocks that run at the same time. `code` is the memory of the
  /// candidate's own variables and constants, `lanes` the width of a warp: 32 or 64.
  Block(unsigned runner, unsigned lanes, StackArea stacks, std::span<const std::byte> code, FindingLog& findings,
        std::atomic<bool>& stop);

  /// Before the blocks of a launch; all references must live as long as the launch.
  void begin_launch(const KernelRun& run, GlobalMemory& memory, const SharedRegion& shared);
  /// The first epoch of what follows, for LaunchOrder.
  [[nodiscard]] std::uint32_t next_epoch() const { return epoch_ + k_max_runners; }
  /// Returns when every thread has ended or a finding has ended the launch.
  void run(kw_sim::Coordinates block);

  /// What its threads ask of memory is counted from now on; warps have 32 lanes. Candidate code has to call
  /// counted_access() in the place of access().
  void count_accesses() { counter_ = std::make_unique<AccessCounter>(); }
  /// Null where nothing is counted.
  [[nodiscard]] AccessCounter* counter() { return counter_.get(); }

  /// The one that the calling host thread is running; null outside run().
  [[nodiscard]] static Block* current();

  // ---- called by candidate code, on the fiber of the current thread
  void access(const void* address, std::size_t bytes, unsigned kind, kw_sim::Place place);
  void counted_access(const void* address, std::size_t bytes, unsigned kind, kw_sim::Place place);
  int barrier(kw_sim::BarrierOp op, int predicate, int line);
  void warp_op(kw_sim::WarpRequest& request);
  void fence();
  /// An atomic access went through; `changed` is whether memory is different now.
  void atomic_done(bool changed);

  void copy_async(void* shared, const void* global, int bytes, int source_bytes, int line);
  void commit_copies() { ++thread_->copy_group; }
  void wait_for_copies(int groups_left, int line);
  void copy_tensor(const kw_sim::TensorCopy& copy);
  void init_barrier(void* barrier, unsigned arrivals, kw_sim::Place place);
  void expect_bytes(void* barrier, unsigned bytes, kw_sim::Place place);
  void wait_for_phase(void* barrier, unsigned parity, kw_sim::Place place);
  [[nodiscard]] PendingProducts& products() { return thread_->products; }
  /// Lets the others run; a thread that waits for memory calls it again and again.
  void pause(kw_sim::Place place);
  /// `text()` is what is found. The fiber is left for good and unwinds nothing, so that no text may be alive then: what
  /// frames still own would never be freed.
  template <typename Text>
  [[noreturn]] void stop(FindingKind kind, const Text& text, kw_sim::Place place) {
    findings_.report(kind, text(), place);
    leave();
  }
  [[noreturn]] void leave();

  [[nodiscard]] const SimThread& thread() const { return *thread_; }
  [[nodiscard]] std::uint64_t live_lanes() const { return warps_[thread_->warp].live; }
  [[nodiscard]] kw_sim::Coordinates block_index() const { return index_; }
  [[nodiscard]] const KernelRun& kernel() const { return *run_; }

 private:
  static void enter(boost::context::detail::transfer_t transfer);
  void prepare_threads();
  void schedule();
  void run_others();
  void wait(ThreadState state, int line);
  void make_ready(SimThread& thread);
  void end_thread();
  void begin_epoch();
  void give_way(kw_sim::Place place);
  void report_stall();
  [[nodiscard]] std::string waiting_threads() const;
  [[nodiscard]] std::string name(unsigned thread) const;

  void shared_access(const std::byte* address, std::size_t bytes, unsigned kind, kw_sim::Place place,
                     const SimThread& thread);
  void global_access(const GlobalBuffer& buffer, const std::byte* address, std::size_t bytes, unsigned kind,
                     kw_sim::Place place);
  [[nodiscard]] const GlobalBuffer* buffer_of(const std::byte* address);
  void count(const std::byte* address, std::size_t bytes, bool write, kw_sim::Place place);
  [[nodiscard]] bool ordered_in_block(Stamp earlier, const SimThread& thread) const {
    return earlier.epoch() != epoch_ || earlier.thread() == thread.number || ordered_in_warp(earlier, thread) ||
           ordered_by_fence(earlier, thread);
  }
  [[nodiscard]] static bool ordered_by_fence(Stamp earlier, const SimThread& thread) {
    return !thread.acquired.empty() && earlier.clock() <= thread.acquired[earlier.thread()];
  }
  void release(SimThread& thread);
  [[nodiscard]] bool ordered_in_warp(Stamp earlier, const SimThread& thread) const;
  [[nodiscard]] bool ordered_in_launch(Stamp earlier, const SimThread& thread, bool atomic) const;
  [[nodiscard]] SharedBarrier& barrier_at(const void* barrier, unsigned kind, kw_sim::Place place);
  void read_box(const kw_sim::TensorMap& map, const kw_sim::TensorCopy& copy, PendingBox& box);
  void deliver(const PendingBox& box);
  void report_race(const Conflict& conflict, bool write, const std::string& where, const SimThread& thread,
                   kw_sim::Place place);
  void report_out_of_bounds(const std::byte* address, std::size_t bytes, bool write, kw_sim::Place place);

  void finish_ready_ops(SimWarp& warp);
  /// Where no lane of the warp can go on, those at the first call without a mask are all that will come to it.
  void finish_unmasked_op(SimWarp& warp);
  void finish(const PendingWarpOp& op, SimWarp& warp);
  void check_lanes(const kw_sim::WarpRequest& request, const SimWarp& warp);
  [[nodiscard]] std::uint64_t whole_warp() const { return ~std::uint64_t{0} >> (k_max_lanes - lanes_); }
  void compute(const PendingWarpOp& op, SimWarp& warp);
  void shuffle(const PendingWarpOp& op);
  void load_matrices(const PendingWarpOp& op);
  [[nodiscard]] SimThread& lane_of(unsigned lane);

  unsigned runner_;
  unsigned lanes_;
  StackArea stacks_;
  std::span<const std::byte> code_;
  FindingLog& findings_;
  std::atomic<bool>& stop_;
  const KernelRun* run_ = nullptr;
  GlobalMemory* memory_ = nullptr;
  const GlobalBuffer* last_buffer_ = nullptr;  ///< that was accessed, most likely the next
  SharedRegion shared_;
  SharedShadow shared_shadow_;
  std::unique_ptr<AccessCounter> counter_;

  kw_sim::Coordinates index_{};
  std::vector<SimThread> threads_;
  std::vector<SimWarp> warps_;
  std::deque<SimThread*> ready_;
  SimThread* thread_ = nullptr;
  FiberContext scheduler_;
  SimBarrier barrier_;
  SharedBarriers shared_barriers_;
  unsigned ended_ = 0;
  std::uint64_t idle_pauses_ = 0;  ///< since anything changed
  unsigned fruitless_looks_ = 0;   ///< at volatile memory, or atomic accesses that changed nothing

  std::uint32_t epoch_;  ///< goes up in steps of k_max_runners, so that those of different runners differ
  std::uint32_t block_epoch_ = 0;
  std::uint32_t fence_epoch_ = 0;
  Releases releases_;               ///< in this epoch
  kw_sim::Place atomic_place_ = 0;  ///< of the last atomic access
  bool acquired_ = false;           ///< this block has made an atomic access
};

}  // namespace kw::sim

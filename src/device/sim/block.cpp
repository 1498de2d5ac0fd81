#include "device/sim/block.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.hpp"

namespace kw::sim {
namespace {

namespace fc = boost::context::detail;

/// Candidate code calls back without saying which block it belongs to.
thread_local Block* running = nullptr;

constexpr unsigned k_looks_per_pause = 16;
/// How often threads may look at memory that nobody changes before that is called a deadlock.
constexpr std::uint64_t k_most_idle_pauses = 300'000;

kw_sim::Coordinates coordinates_of(unsigned number, const kw_sim::Coordinates& extent) {
  return {number % extent.x, number / extent.x % extent.y, number / (extent.x * extent.y)};
}

}  // namespace

Block::Block(unsigned runner, unsigned lanes, StackArea stacks, std::span<const std::byte> code, FindingLog& findings,
             std::atomic<bool>& stop)
    : runner_(runner),
      lanes_(lanes),
      stacks_(stacks),
      code_(code),
      findings_(findings),
      stop_(stop),
      epoch_(runner + k_max_runners) {}

Block* Block::current() {
  return running;
}

void Block::begin_launch(const KernelRun& run, GlobalMemory& memory, const SharedRegion& shared) {
  run_ = &run;
  memory_ = &memory;
  last_buffer_ = nullptr;
  shared_ = shared;
  shared_shadow_.begin_launch(shared.begin, shared.bytes);
}

void Block::prepare_threads() {
  const unsigned count = run_->block.x * run_->block.y * run_->block.z;
  threads_.resize(count);
  warps_.resize((count + lanes_ - 1) / lanes_);
  for (std::size_t w = 0; w < warps_.size(); ++w) {
    warps_[w].ready = std::min(lanes_, count - static_cast<unsigned>(w) * lanes_);
    warps_[w].live = ~std::uint64_t{0} >> (k_max_lanes - warps_[w].ready);
    warps_[w].clocks.reset(lanes_);
    warps_[w].pending.clear();
  }
  ready_.clear();
  for (unsigned i = 0; i < count; ++i) {
    SimThread& thread = threads_[i];
    thread.number = i;
    thread.warp = i / lanes_;
    thread.lane = i % lanes_;
    thread.index = coordinates_of(i, run_->block);
    thread.state = ThreadState::ready;
    thread.copies.clear();
    thread.copy_group = 0;
    thread.products.clear();
    thread.fenced = 0;
    thread.acquired.clear();
    std::byte* top = stacks_.begin + (i + 1) * stacks_.stack_bytes;
    make_fiber(thread.fiber, top, stacks_.stack_bytes - k_stack_guard_bytes, enter);
    ready_.push_back(&thread);
  }
}

void Block::run(kw_sim::Coordinates block) {
  index_ = block;
  barrier_ = {};
  shared_barriers_.clear();
  ended_ = 0;
  idle_pauses_ = 0;
  acquired_ = false;
  fence_epoch_ = 0;
  begin_epoch();
  block_epoch_ = epoch_;
  begin_epoch();  // what the copy engine writes stands in the epoch before
  prepare_threads();
  if (counter_) counter_->begin_block(threads_.size());
  running = this;
  adopt_thread(scheduler_);
  schedule();
  running = nullptr;
  if (counter_) counter_->block_is_together();
}

void Block::schedule() {
  while (ended_ < threads_.size() && !stop_) {
    if (ready_.empty()) return report_stall();
    thread_ = ready_.front();
    ready_.pop_front();
    switch_to(thread_->fiber, scheduler_);
  }
}

void Block::enter(fc::transfer_t transfer) {
  Block* const block = running;
  arrive(block->thread_->fiber, transfer);
  block->run_->entry(block->run_->arguments.data());
  block->end_thread();
}

void Block::end_thread() {
  thread_->state = ThreadState::done;
  ++ended_;
  idle_pauses_ = 0;
  SimWarp& warp = warps_[thread_->warp];
  warp.live &= ~(std::uint64_t{1} << thread_->lane);
  --warp.ready;
  finish_ready_ops(warp);
  if (warp.ready == 0) finish_unmasked_op(warp);
  run_others();
}

void Block::wait(ThreadState state, int line) {
  thread_->state = state;
  thread_->line = line;
  SimWarp& warp = warps_[thread_->warp];
  if (--warp.ready == 0) finish_unmasked_op(warp);
  run_others();
}

/// Until this thread's turn comes again. Straight to the next one, as every switch costs.
void Block::run_others() {
  SimThread& here = *thread_;
  if (ready_.empty() || stop_) return switch_to(scheduler_, here.fiber);
  thread_ = ready_.front();
  ready_.pop_front();
  if (thread_ != &here) switch_to(thread_->fiber, here.fiber);
}

void Block::make_ready(SimThread& thread) {
  if (thread.state != ThreadState::ready) ++warps_[thread.warp].ready;
  thread.state = ThreadState::ready;
  ready_.push_back(&thread);
}

void Block::pause(kw_sim::Place place) {
  if (++idle_pauses_ > k_most_idle_pauses) {
    stop(
        FindingKind::deadlock,
        [&] {
          return fmt::format("threads wait for memory that no running thread changes: {} looks for ever",
                             name(thread_->number));
        },
        place);
  }
  make_ready(*thread_);
  run_others();
}

void Block::leave() {
  stop_ = true;
  switch_to(scheduler_, thread_->fiber);
  std::abort();  // a stopped block is never resumed
}

void Block::begin_epoch() {
  epoch_ += k_max_runners;
  if (!releases_.any) return;
  releases_ = {};
  for (SimThread& thread : threads_) thread.acquired.clear();
}

int Block::barrier(kw_sim::BarrierOp op, int predicate, int line) {
  if (barrier_.waiting == 0) barrier_.line = line;
  if (barrier_.line != line) {
    stop(
        FindingKind::divergent_barrier,
        [&] {
          return fmt::format("{} waits at another barrier than the threads that wait at line {}", name(thread_->number),
                             barrier_.line);
        },
        static_cast<kw_sim::Place>(line));
  }
  ++barrier_.waiting;
  barrier_.count += predicate != 0 ? 1 : 0;
  const auto all = static_cast<unsigned>(threads_.size());
  if (barrier_.waiting < all) {
    wait(ThreadState::at_barrier, line);
    return thread_->vote;
  }
  const int count = barrier_.count;
  int vote = 0;
  if (op == kw_sim::BarrierOp::count) vote = count;
  if (op == kw_sim::BarrierOp::any) vote = count > 0 ? 1 : 0;
  if (op == kw_sim::BarrierOp::all) vote = count == static_cast<int>(all) ? 1 : 0;
  barrier_ = {};
  idle_pauses_ = 0;
  if (counter_) counter_->block_is_together();
  begin_epoch();
  for (SimThread& thread : threads_) {
    thread.vote = vote;
    if (&thread != thread_) make_ready(thread);
  }
  return vote;
}

void Block::fence() {
  fence_epoch_ = epoch_;
  thread_->fenced = warps_[thread_->warp].clocks.now[thread_->lane]++;
}

void Block::release(SimThread& thread) {
  if (thread.fenced == 0) return;
  releases_.any = true;
  releases_.steps.resize(threads_.size());
  releases_.steps[thread.number] = std::exchange(thread.fenced, 0);
}

void Block::atomic_done(bool changed) {
  // Not sooner: others may have run since the access was announced.
  if (releases_.any) thread_->acquired = releases_.steps;
  if (changed) {
    idle_pauses_ = 0;
  } else {
    give_way(atomic_place_);
  }
}

/// A thread that only looks at memory may be waiting for another; every so many looks the others run.
void Block::give_way(kw_sim::Place place) {
  if (++fruitless_looks_ % k_looks_per_pause == 0) pause(place);
}

std::string Block::name(unsigned thread) const {
  const kw_sim::Coordinates t = coordinates_of(thread, run_->block);
  return fmt::format("thread ({}, {}, {}) of block ({}, {}, {})", t.x, t.y, t.z, index_.x, index_.y, index_.z);
}

/// "96 threads wait at line 12, 32 threads have ended"
std::string Block::waiting_threads() const {
  std::vector<std::pair<std::pair<ThreadState, int>, int>> groups;
  for (const SimThread& thread : threads_) {
    const std::pair key(thread.state, thread.state == ThreadState::done ? 0 : thread.line);
    const auto known = std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.first == key; });
    if (known == groups.end()) {
      groups.emplace_back(key, 1);
    } else {
      ++known->second;
    }
  }
  return join(groups, ", ", [](const auto& group) {
    const auto& [key, count] = group;
    std::string text = fmt::format("{} {}", count, count == 1 ? "thread" : "threads");
    if (key.first == ThreadState::done) text += count == 1 ? " has ended" : " have ended";
    if (key.first == ThreadState::at_barrier) text += fmt::format(" at the barrier of line {}", key.second);
    if (key.first == ThreadState::in_warp_op) text += fmt::format(" at line {} for lanes of the warp", key.second);
    return text;
  });
}

void Block::report_stall() {
  const auto at_barrier = static_cast<unsigned>(std::count_if(
      threads_.begin(), threads_.end(), [](const SimThread& t) { return t.state == ThreadState::at_barrier; }));
  const auto waiting =
      std::find_if(threads_.begin(), threads_.end(), [](const SimThread& t) { return t.state != ThreadState::done; });
  const bool divergent = at_barrier + ended_ == threads_.size();
  const std::string text = divergent ? "not every thread of block ({}, {}, {}) comes to the barrier: {}"
                                     : "no thread of block ({}, {}, {}) can go on: {}";
  findings_.report(divergent ? FindingKind::divergent_barrier : FindingKind::deadlock,
                   fmt::format(fmt::runtime(text), index_.x, index_.y, index_.z, waiting_threads()),
                   static_cast<kw_sim::Place>(waiting->line));
  stop_ = true;
}

}  // namespace kw::sim

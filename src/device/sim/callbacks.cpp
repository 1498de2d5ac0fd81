#include "device/sim/block.hpp"
#include "device/sim/simulator.hpp"

namespace kw::sim {
namespace {

template <typename Word>
unsigned long long exchange(void* address, unsigned long long expected, unsigned long long desired) {
  auto seen = static_cast<Word>(expected);
  __atomic_compare_exchange_n(static_cast<Word*>(address), &seen, static_cast<Word>(desired), false, __ATOMIC_SEQ_CST,
                              __ATOMIC_SEQ_CST);
  return seen;
}

unsigned long long compare_exchange(void* address, unsigned bytes, unsigned long long expected,
                                    unsigned long long desired) {
  unsigned long long seen = 0;
  if (bytes == 2) seen = exchange<std::uint16_t>(address, expected, desired);
  if (bytes == 4) seen = exchange<std::uint32_t>(address, expected, desired);
  if (bytes == 8) seen = exchange<std::uint64_t>(address, expected, desired);
  Block::current()->atomic_done(seen == expected && desired != expected);
  return seen;
}

}  // namespace

kw_sim::Runtime callbacks(Counting counting) {
  kw_sim::Runtime table{};
  table.access = [](const void* address, unsigned long bytes, unsigned kind, kw_sim::Place place) {
    Block::current()->access(address, bytes, kind, place);
  };
  table.entered = [](kw_sim::Place) {};
  if (counting == Counting::accesses) {
    table.entered = [](kw_sim::Place block) {
      Block::current()->counter()->branches().entered(Block::current()->thread().number, block);
    };
    table.access = [](const void* address, unsigned long bytes, unsigned kind, kw_sim::Place place) {
      Block::current()->counted_access(address, bytes, kind, place);
    };
  }
  table.thread_index = [] { return Block::current()->thread().index; };
  table.block_index = [] { return Block::current()->block_index(); };
  table.block_size = [] { return Block::current()->kernel().block; };
  table.grid_size = [] { return Block::current()->kernel().grid; };
  table.lane = [] { return Block::current()->thread().lane; };
  table.live_lanes = [] { return Block::current()->live_lanes(); };
  table.barrier = [](kw_sim::BarrierOp op, int predicate, int line) {
    return Block::current()->barrier(op, predicate, line);
  };
  table.warp = [](kw_sim::WarpRequest* request) { Block::current()->warp_op(*request); };
  table.fence = [](int) { Block::current()->fence(); };
  table.compare_exchange = compare_exchange;
  table.copy_async = [](void* shared, const void* global, int bytes, int source_bytes, int line) {
    Block::current()->copy_async(shared, global, bytes, source_bytes, line);
  };
  table.commit_copies = [] { Block::current()->commit_copies(); };
  table.wait_for_copies = [](int groups_left, int line) { Block::current()->wait_for_copies(groups_left, line); };
  table.copy_tensor = [](const kw_sim::TensorCopy* copy) { Block::current()->copy_tensor(*copy); };
  table.init_barrier = [](void* barrier, unsigned arrivals, int line) {
    Block::current()->init_barrier(barrier, arrivals, static_cast<kw_sim::Place>(line));
  };
  table.expect_bytes = [](void* barrier, unsigned bytes, int line) {
    Block::current()->expect_bytes(barrier, bytes, static_cast<kw_sim::Place>(line));
  };
  table.wait_for_phase = [](void* barrier, unsigned parity, int line) {
    Block::current()->wait_for_phase(barrier, parity, static_cast<kw_sim::Place>(line));
  };
  table.defer_product = [](const kw_sim::Product* product) { Block::current()->products().defer(*product); };
  table.commit_products = [] { Block::current()->products().commit(); };
  table.next_product = [](kw_sim::Product* product, int groups_left) {
    return Block::current()->products().next(groups_left, *product);
  };
  table.pause = [](int line) { Block::current()->pause(static_cast<kw_sim::Place>(line)); };
  table.stop = [](const char* what, int line) {
    Block::current()->stop(
        FindingKind::stopped, [&] { return std::string(what); }, static_cast<kw_sim::Place>(line));
  };
  return table;
}

}  // namespace kw::sim

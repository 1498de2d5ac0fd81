// What lanes of a warp do together: each lane brings its request and waits; the last one to come computes the result
// for all.

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "device/sim/block.hpp"
#include "device/sim/lane_exchange.hpp"
#include "device/sim/matrices.hpp"

namespace kw::sim {
namespace {

using kw_sim::WarpOp;

bool is_matrix_op(WarpOp op) {
  return op >= WarpOp::load_matrices;
}

}  // namespace

SimThread& Block::lane_of(unsigned lane) {
  return threads_[thread_->warp * lanes_ + lane];
}

void Block::check_lanes(const kw_sim::WarpRequest& request, const SimWarp& warp) {
  const auto place = static_cast<kw_sim::Place>(request.line);
  if (!request.unmasked && !has_lane(request.mask, thread_->lane)) {
    stop(
        FindingKind::misused_instruction,
        [&] {
          return fmt::format("{} is lane {} and not in the mask {:#0{}x} that it names", name(thread_->number),
                             thread_->lane, request.mask, lanes_ / 4 + 2);
        },
        place);
  }
  if (is_matrix_op(request.op) && warp.live != whole_warp()) {
    stop(
        FindingKind::misused_instruction,
        [&] { return fmt::format("a matrix instruction needs all 32 lanes of the warp of {}", name(thread_->number)); },
        place);
  }
}

void Block::warp_op(kw_sim::WarpRequest& request) {
  SimWarp& warp = warps_[thread_->warp];
  check_lanes(request, warp);
  auto op = std::find_if(warp.pending.begin(), warp.pending.end(),
                         [&](const PendingWarpOp& p) { return p.takes(request, thread_->lane); });
  if (op == warp.pending.end()) {
    op = warp.pending.insert(op, {request.op, request.unmasked, request.mask, request.from, request.line, 0, {}});
  }
  op->arrived |= lane_bit(thread_->lane);
  op->requests[thread_->lane] = &request;
  if (!op->is_complete(warp.live)) return wait(ThreadState::in_warp_op, request.line);
  const PendingWarpOp done = *op;
  warp.pending.erase(op);
  finish(done, warp);
}

void Block::finish(const PendingWarpOp& op, SimWarp& warp) {
  compute(op, warp);
  if (counter_ && op.arrived == warp.live) counter_->warp_is_together(thread_->warp);
  for (unsigned lane = 0; lane < lanes_; ++lane) {
    if (has_lane(op.arrived, lane) && lane_of(lane).state != ThreadState::ready) make_ready(lane_of(lane));
  }
}

/// After a lane has ended: operations that waited for nobody else go on.
void Block::finish_ready_ops(SimWarp& warp) {
  for (std::size_t i = 0; i < warp.pending.size();) {
    if (!warp.pending[i].is_complete(warp.live)) {
      ++i;
      continue;
    }
    const PendingWarpOp done = warp.pending[i];
    warp.pending.erase(warp.pending.begin() + static_cast<std::ptrdiff_t>(i));
    finish(done, warp);
  }
}

/// The first line goes first, as lanes that took a branch do before those that wait behind it.
void Block::finish_unmasked_op(SimWarp& warp) {
  auto first = warp.pending.end();
  for (auto op = warp.pending.begin(); op != warp.pending.end(); ++op) {
    if (op->unmasked && (first == warp.pending.end() || op->line < first->line)) first = op;
  }
  if (first == warp.pending.end()) return;
  const PendingWarpOp done = *first;
  warp.pending.erase(first);
  finish(done, warp);
}

void Block::compute(const PendingWarpOp& op, SimWarp& warp) {
  idle_pauses_ = 0;
  switch (op.op) {
    case WarpOp::sync:
      return warp.clocks.join(op.arrived);
    case WarpOp::shuffle:
    case WarpOp::shuffle_up:
    case WarpOp::shuffle_down:
    case WarpOp::shuffle_xor:
      return shuffle(op);
    case WarpOp::ballot:
    case WarpOp::match:
      return match_lanes(op);
    case WarpOp::load_matrices:
    case WarpOp::load_matrices_transposed:
      return load_matrices(op);
    case WarpOp::multiply_f16:
    case WarpOp::multiply_bf16:
    case WarpOp::multiply_tf32:
      return multiply_matrices(op);
    default:
      return reduce_lanes(op);
  }
}

void Block::shuffle(const PendingWarpOp& op) {
  for (unsigned lane = 0; lane < lanes_; ++lane) {
    if (!has_lane(op.arrived, lane)) continue;
    const kw_sim::WarpRequest& request = *op.requests[lane];
    const int source = source_lane(request, lane);
    if (source < 0) continue;
    if (!has_lane(op.arrived, static_cast<unsigned>(source))) {
      findings_.report(FindingKind::inactive_lane,
                       fmt::format("{} shuffles from lane {}, which takes no part", name(lane_of(lane).number), source),
                       static_cast<kw_sim::Place>(request.line));
      continue;
    }
    std::memcpy(request.out, op.requests[static_cast<std::size_t>(source)]->in, request.bytes);
  }
}

void Block::load_matrices(const PendingWarpOp& op) {
  const int matrices = op.requests[0]->a;
  const auto place = static_cast<kw_sim::Place>(op.requests[0]->line);
  MatrixRows rows{};
  for (unsigned i = 0; i < static_cast<unsigned>(8 * matrices); ++i) {
    const auto* row = static_cast<const std::byte*>(op.requests[i]->in);
    if (!shared_.holds(row) || reinterpret_cast<std::uintptr_t>(row) % 16 != 0) {
      stop(
          FindingKind::misused_instruction,
          [&] {
            return fmt::format("lane {} gives ldmatrix an address that is not in shared memory or no multiple of 16",
                               i);
          },
          place);
    }
    // A row is read for the lane that named it and for those that receive it; one of the latter that is never the
    // former stands for them.
    shared_access(row, 16, 0, place, lane_of(i));
    shared_access(row, 16, 0, place, lane_of(4 * (i % 8) + 3));
    rows[i] = reinterpret_cast<const std::uint16_t*>(row);
  }
  if (counter_) {
    std::array<std::uint64_t, std::tuple_size_v<MatrixRows>> at{};
    const auto count = static_cast<std::size_t>(8 * matrices);
    for (std::size_t i = 0; i < count; ++i) {
      at[i] = static_cast<std::uint64_t>(reinterpret_cast<const std::byte*>(rows[i]) - shared_.begin);
    }
    counter_->matrix_rows(place, std::span(at).first(count));
  }
  const bool transposed = op.op == WarpOp::load_matrices_transposed;
  for (unsigned lane = 0; lane < lanes_; ++lane) {
    auto* registers = static_cast<std::uint32_t*>(op.requests[lane]->out);
    for (int m = 0; m < matrices; ++m) registers[m] = matrix_register(rows, m, lane, transposed);
  }
}

}  // namespace kw::sim

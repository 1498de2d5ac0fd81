#include "device/sim/lane_exchange.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "device/sim/matrices.hpp"

namespace kw::sim {
namespace {

using kw_sim::WarpOp;

/// Calls use(lane) for the lanes of a mask, the lowest first.
template <typename Use>
void for_each_lane(std::uint64_t mask, const Use& use) {
  for (; mask != 0; mask &= mask - 1) use(static_cast<unsigned>(std::countr_zero(mask)));
}

std::uint32_t reduced(WarpOp op, std::uint32_t a, std::uint32_t b) {
  switch (op) {
    case WarpOp::reduce_min:
      return std::min(a, b);
    case WarpOp::reduce_max:
      return std::max(a, b);
    case WarpOp::reduce_min_signed:
      return static_cast<std::int32_t>(a) < static_cast<std::int32_t>(b) ? a : b;
    case WarpOp::reduce_max_signed:
      return static_cast<std::int32_t>(a) > static_cast<std::int32_t>(b) ? a : b;
    case WarpOp::reduce_and:
      return a & b;
    case WarpOp::reduce_or:
      return a | b;
    case WarpOp::reduce_xor:
      return a ^ b;
    default:
      return a + b;
  }
}

bool is_chosen(const PendingWarpOp& op, const kw_sim::WarpRequest& mine, const kw_sim::WarpRequest& theirs) {
  return op.op == WarpOp::ballot ? theirs.a != 0 : std::memcmp(mine.in, theirs.in, mine.bytes) == 0;
}

}  // namespace

bool PendingWarpOp::takes(const kw_sim::WarpRequest& request, unsigned lane) const {
  const bool same_call = unmasked ? from == request.from && line == request.line : mask == request.mask;
  return op == request.op && unmasked == request.unmasked && same_call && !has_lane(arrived, lane);
}

int source_lane(const kw_sim::WarpRequest& request, unsigned lane) {
  const int width = std::clamp(request.width, 1, static_cast<int>(k_max_lanes));
  const int self = static_cast<int>(lane);
  const int first = self / width * width;
  const int inside = self - first;
  switch (request.op) {
    case WarpOp::shuffle:
      return first + (request.a & (width - 1));
    case WarpOp::shuffle_up:
      return inside < request.a ? -1 : self - request.a;
    case WarpOp::shuffle_down:
      return inside + request.a >= width ? -1 : self + request.a;
    default:
      return (self ^ request.a) >= first + width ? -1 : self ^ request.a;
  }
}

void match_lanes(const PendingWarpOp& op) {
  for_each_lane(op.arrived, [&](unsigned lane) {
    const kw_sim::WarpRequest& request = *op.requests[lane];
    std::uint64_t chosen = 0;
    for_each_lane(op.arrived, [&](unsigned other) {
      if (is_chosen(op, request, *op.requests[other])) chosen |= lane_bit(other);
    });
    const std::uint64_t lanes[2] = {chosen, op.arrived};
    std::memcpy(request.out, lanes, sizeof lanes);
  });
}

void reduce_lanes(const PendingWarpOp& op) {
  const auto value = [&](unsigned lane) { return *static_cast<const std::uint32_t*>(op.requests[lane]->in); };
  const auto first = static_cast<unsigned>(std::countr_zero(op.arrived));
  std::uint32_t result = value(first);
  for_each_lane(op.arrived & ~lane_bit(first), [&](unsigned lane) { result = reduced(op.op, result, value(lane)); });
  for_each_lane(op.arrived, [&](unsigned lane) { *static_cast<std::uint32_t*>(op.requests[lane]->out) = result; });
}

void multiply_matrices(const PendingWarpOp& op) {
  LaneOperands operands{};
  LaneAccumulators d{};
  for (unsigned lane = 0; lane < operands.size(); ++lane) {
    operands[lane] = static_cast<const std::uint32_t*>(op.requests[lane]->in);
    d[lane] = static_cast<float*>(op.requests[lane]->out);
  }
  if (op.op == WarpOp::multiply_f16) return multiply_f16(operands, d);
  if (op.op == WarpOp::multiply_bf16) return multiply_bf16(operands, d);
  multiply_tf32(operands, d);
}

}  // namespace kw::sim
